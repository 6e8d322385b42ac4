export const Page: React.FC<Props> = ({ a }) => {
  const onClick = useCallback(() => {
    a();
  }, [a]);
  return <div onClick={onClick}>{a}</div>;
};
