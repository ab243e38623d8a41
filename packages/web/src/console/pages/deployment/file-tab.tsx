import { useQuery } from '@tanstack/react-query';
import { Suspense, useEffect, useState } from 'react';
import { callApi, useOrgAndMode, useRole } from '../../data/api.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog, DialogActions } from '../../parts/dialog.tsx';
import { useFilters } from '../../parts/filters.tsx';
import { lazyPart } from '../../parts/lazy-part.tsx';
import { Loaded, Waiting } from '../../parts/page.tsx';
import { useUnsaved } from '../../parts/unsaved.tsx';
import { ApplyFile } from './apply-file.tsx';
import { type Deployment, DeploymentFrame } from './deployment-frame.tsx';

const DockedPlayground = lazyPart(() => import('./docked-playground.tsx'));

export default function FileTab() {
  const [{ talk }] = useFilters('talk');
  const { may } = useRole();
  const isTalking = talk !== undefined && may('conversations.create');
  return (
    <DeploymentFrame isWide={isTalking} tab="file">
      {(deployment) => (
        <div className={isTalking ? 'grid gap-8 *:min-w-0 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]' : ''}>
          <FileOfDeployment deployment={deployment} key={deployment.id} />
          {isTalking && (
            <Suspense fallback={<Waiting />}>
              <DockedPlayground slug={deployment.slug} version={deployment.draft_version} />
            </Suspense>
          )}
        </div>
      )}
    </DeploymentFrame>
  );
}

const Diff = lazyPart(() => import('../../parts/editor/diff.tsx'));

type SavedFile = { version: number; text: string };

function FileOfDeployment({ deployment }: { deployment: Deployment }) {
  const place = useOrgAndMode();
  const deployment_id = deployment.id;
  // Reads the version before the text: the reverse order could overwrite a version that the text lacks.
  const readNow = async (): Promise<SavedFile> => {
    const { newest_version } = (await callApi(place, 'deployments.get', { deployment_id } as never)) as Deployment;
    const text = await callApi(place, 'deployments.get', { deployment_id, format: 'yaml' } as never);
    return { version: newest_version, text: text as unknown as string };
  };
  const kept = useQuery({
    queryKey: [place.org, place.mode, 'deployments.get', { file: deployment_id }],
    queryFn: readNow,
  });
  // The version that editing started from.
  const [base, setBase] = useState<SavedFile | null>(null);
  const [draft, setDraft] = useState<string | null>(null);
  const [theirs, setTheirs] = useState<SavedFile | null>(null);
  // Applied text counts as saved before the server's version of it arrives.
  const [applied, setApplied] = useState<string | null>(null);
  const isChanged = draft !== null && draft !== base?.text;
  const saved = kept.data;

  useEffect(() => {
    if (saved !== undefined && !isChanged) {
      setBase(saved);
      setDraft(saved.text);
    }
  }, [saved, isChanged]);
  const unsaved = useUnsaved(isChanged && draft !== applied);

  const take = (file: SavedFile) => {
    setBase(file);
    setDraft(file.text);
  };
  /** If only documents changed, the file is the same and nothing is overwritten. */
  const look = async () => {
    const now = await readNow();
    if (now.text !== base?.text) {
      setTheirs(now);
      return null;
    }
    setBase(now);
    return now.version;
  };
  return (
    <Loaded query={kept}>
      {({ text, version }) => (
        <div>
          <ApplyFile
            deploymentId={deployment.id}
            isChanged={isChanged}
            expectedVersion={base?.version ?? version}
            onApplied={() => {
              setApplied(draft);
              void readNow().then(take);
            }}
            onChange={setDraft}
            onConflict={look}
            onDiscard={() => setDraft(base?.text ?? text)}
            text={draft ?? text}
          />
          {unsaved.dialog}
          {theirs !== null && draft !== null && (
            <Dialog
              description="Someone applied another version while you were editing. Your text is on the right."
              isOpen
              onClose={() => setTheirs(null)}
              title="This file has changed"
              width="wide"
            >
              <Suspense fallback={<Waiting />}>
                <Diff after={draft} before={theirs.text} labels={['Saved version', 'Your changes']} />
              </Suspense>
              <DialogActions>
                <Button
                  onClick={() => {
                    take(theirs);
                    setTheirs(null);
                  }}
                >
                  Use the saved version
                </Button>
                <Button
                  look="primary"
                  onClick={() => {
                    setBase(theirs);
                    setTheirs(null);
                  }}
                >
                  Keep my changes
                </Button>
              </DialogActions>
            </Dialog>
          )}
        </div>
      )}
    </Loaded>
  );
}
