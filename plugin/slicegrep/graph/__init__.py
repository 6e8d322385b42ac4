"""The code graph: which definitions refer to which, by a SCIP index where there is one, by the parser elsewhere."""
