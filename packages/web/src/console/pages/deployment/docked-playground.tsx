import { useEffect, useRef } from 'react';
import { Button } from '../../parts/button.tsx';
import { useFilters } from '../../parts/filters.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Column } from '../playground/column.tsx';

/** The playground beside the file: `?talk=open`. A new version begins a new conversation. */
export default function DockedPlayground({ slug, version }: { slug: string; version: number }) {
  const [{ conversation }, set] = useFilters('talk', 'conversation');
  const begunWith = useRef(version);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another version ends the conversation.
  useEffect(() => {
    if (begunWith.current === version) return;
    begunWith.current = version;
    set({ conversation: undefined });
  }, [version]);
  return (
    <section aria-label="Playground" className="min-w-0">
      <div className="mb-2 flex min-h-8 items-center gap-2">
        <h2 className="font-semibold">Playground</h2>
        <span className="ml-auto flex items-center gap-1">
          {conversation && (
            <Button look="quiet" onClick={() => set({ conversation: undefined })} shape="small">
              New conversation
            </Button>
          )}
          <Button
            aria-label="Close the playground"
            look="quiet"
            onClick={() => set({ talk: undefined, conversation: undefined })}
            shape="icon"
          >
            <Icon name="close" />
          </Button>
        </span>
      </div>
      <Column
        conversationId={conversation}
        deployment={slug}
        isAlone={false}
        key={conversation ?? `new ${version}`}
        onBegun={(id) => set({ conversation: id })}
        user="playground"
      />
    </section>
  );
}
