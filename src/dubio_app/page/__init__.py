"""The page of ``dubio open``: the whole way from a file to the answer, without a command line."""
