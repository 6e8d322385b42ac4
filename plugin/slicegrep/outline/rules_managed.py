"""The rules of Java."""

from __future__ import annotations

from slicegrep.outline.rules import Rules

__all__ = ["RULES"]

_JAVA = """
(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @enum
(record_declaration name: (_) @name) @record
(annotation_type_declaration name: (_) @name) @interface
(method_declaration name: (_) @name) @method
(constructor_declaration name: (_) @name) @constructor
(compact_constructor_declaration name: (_) @name) @constructor
(annotation_type_element_declaration name: (_) @name) @method
(enum_constant name: (_) @name body: (_)) @qualifier
(field_declaration declarator: (variable_declarator name: (_) @name)) @variable
(field_declaration declarator: (variable_declarator name: (_) @name value: (lambda_expression body: (_) @body))) @method
"""

RULES = {"java": Rules(_JAVA)}
