import { lazy, Suspense, useEffect, useState } from 'react';
import { callApi, usePlace } from '../../data/api.ts';
import { useOne } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog, DialogActions } from '../../parts/dialog.tsx';
import { Loaded, Waiting } from '../../parts/page.tsx';
import { ApplyFile } from './apply-file.tsx';
import type { Deployment } from './deployment-frame.tsx';

const Diff = lazy(() => import('../../parts/editor/diff.tsx'));

export function FileOfDeployment({ deployment }: { deployment: Deployment }) {
  const place = usePlace();
  const fields = { deployment_id: deployment.id, format: 'yaml' } as never;
  const kept = useOne('deployments.get', fields);
  // The text that editing began from: somebody else may have applied another since.
  const [base, setBase] = useState<string | null>(null);
  const [draft, setDraft] = useState<string | null>(null);
  const [theirs, setTheirs] = useState<string | null>(null);
  const isChanged = draft !== null && draft !== base;
  const saved = kept.data as unknown as string | undefined;

  useEffect(() => {
    if (saved !== undefined && !isChanged) {
      setBase(saved);
      setDraft(saved);
    }
  }, [saved, isChanged]);
  useUnsavedWarning(isChanged);

  const readNow = async () => (await callApi(place, 'deployments.get', fields)) as unknown as string;
  const mayApply = async () => {
    const now = await readNow();
    if (base === null || now === base) return true;
    setTheirs(now);
    return false;
  };
  return (
    <Loaded query={{ ...kept, data: saved }}>
      {(text) => (
        <>
          <ApplyFile
            deploymentId={deployment.id}
            isChanged={isChanged}
            mayApply={mayApply}
            onApplied={() =>
              void readNow().then((now) => {
                setBase(now);
                setDraft(now);
              })
            }
            onChange={setDraft}
            onDiscard={() => setDraft(base)}
            text={draft ?? text}
          />
          {theirs !== null && draft !== null && (
            <Dialog
              description="Somebody applied another version while you were editing. Yours is on the right; nothing of it is lost."
              isOpen
              onClose={() => setTheirs(null)}
              title="This file has changed"
              width="wide"
            >
              <Suspense fallback={<Waiting />}>
                <Diff after={draft} before={theirs} labels={['What is saved now', 'What you wrote']} />
              </Suspense>
              <DialogActions>
                <Button
                  onClick={() => {
                    setBase(theirs);
                    setDraft(theirs);
                    setTheirs(null);
                  }}
                >
                  Take what is saved
                </Button>
                <Button
                  look="primary"
                  onClick={() => {
                    setBase(theirs);
                    setTheirs(null);
                  }}
                >
                  Keep mine and go on
                </Button>
              </DialogActions>
            </Dialog>
          )}
        </>
      )}
    </Loaded>
  );
}

function useUnsavedWarning(isUnsaved: boolean): void {
  useEffect(() => {
    if (!isUnsaved) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [isUnsaved]);
}
