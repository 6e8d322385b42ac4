module A (f) where

-- | doc
f :: Int -> Int
f 0 = 1
f x = g x
  where
    g y = y

data T a = A { x :: Int }
  | B

class C a where
  m :: a -> Int

instance C Int where
  m x = x

(+++) :: a -> a
a +++ b = a

main :: IO ()
main = do
  print 1
