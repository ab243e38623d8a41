import { useState } from 'react';
import type { RouteAnswer } from '../../data/rows.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { ApplyFile } from './apply-file.tsx';

type ApplyNewFileProps = {
  text: string;
  onChange: (text: string) => void;
  onApplied: (answer: RouteAnswer<'deployments.put'>) => void;
};

/** Applies a new file. An existing deployment of that name is not changed. */
export function ApplyNewFile({ text, onChange, onApplied }: ApplyNewFileProps) {
  const [taken, setTaken] = useState<{ name: string; text: string } | null>(null);
  return (
    <>
      <ApplyFile
        expectedVersion={0}
        isChanged
        onApplied={onApplied}
        onChange={onChange}
        onConflict={async (name) => {
          setTaken({ name, text });
          return null;
        }}
        text={text}
      />
      {taken?.text === text && (
        <p className="mt-3 rounded-md bg-warn-soft px-3 py-2 text-warn" role="alert">
          A deployment named <strong className="break-all">{taken.name}</strong> already exists. It was not changed.
          Choose another name, or{' '}
          <PageLink className="text-accent underline underline-offset-2" to={`/deployments/${taken.name}`}>
            open it
          </PageLink>
          .
        </p>
      )}
    </>
  );
}
