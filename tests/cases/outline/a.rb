module A
  class B < C
    def m(a, b = 1)
      [1].each do |z|
        z
      end
    end

    def self.cm; end

    class << self
      def sm; end
    end

    private def pm; end

    define_method(:dm) { |x| x }

    OPTIONS = {
      a: 1
    }
  end
end

module X::Y
  def ==(o); end
end

Point = Struct.new(:a) do
  def q; end
end

describe "x" do
  it "y" do
  end
end
