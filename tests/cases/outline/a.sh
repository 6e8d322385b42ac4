#!/bin/bash
f() {
  echo
}
function my-func {
  inner() { :; }
}
sub() (
  echo
)
TABLE=(
  1
)
