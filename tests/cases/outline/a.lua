local M = {}
function M.a(x)
end
function M:b(x)
  local function inner() end
end
M.c = function() end
local t = {
  g = function() end,
  n = { i = function() end },
}
