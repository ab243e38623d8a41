/** The contract's sentences mark names and values as Markdown does. */
export const HelpText = ({ children }: { children: string }) =>
  children.split('`').map((piece, at) =>
    at % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a sentence keep their order.
      <code className="rounded-sm bg-muted px-1 font-mono text-[0.92em]" key={at}>
        {piece}
      </code>
    ) : (
      piece
    ),
  );
