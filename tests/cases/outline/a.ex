defmodule A.B do
  @moduledoc "x"

  @spec m(integer) :: integer
  def m(a, b \\ 1) when a > 1 do
    fn x -> x end
  end

  defp p(a), do: a

  defmacro mac(a) do
    a
  end

  defmodule In do
    def q, do: 1
  end
end

defimpl P, for: Integer do
  def pm(a), do: a
end

test "x y" do
  1
end
