"""The grep and rg shim: the real tool, with the enclosing definition behind the lines that it prints."""
