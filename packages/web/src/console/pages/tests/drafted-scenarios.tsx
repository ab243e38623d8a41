import { useEffect, useState } from 'react';
import { useChange } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog, DialogActions } from '../../parts/dialog.tsx';
import { Fault } from '../../parts/fault.tsx';
import { say } from '../../parts/notices.tsx';
import { Waiting } from '../../parts/page.tsx';
import type { ScenarioDraft } from './scenario-form.tsx';

/** Scenarios that a model drafted of the newest version. Nothing is saved until it is chosen. */
export function DraftedScenarios({
  deploymentId: deployment_id,
  onClose,
}: {
  deploymentId: string;
  onClose: () => void;
}) {
  const generate = useChange('scenarios.generate');
  const create = useChange('scenarios.create');
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const [error, setError] = useState<Error | null>(null);
  const drafts = (generate.answer?.data ?? []) as ScenarioDraft[];
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is asked once, when the dialog opens.
  useEffect(() => generate.run({ deployment_id } as never), []);
  const add = async () => {
    setError(null);
    try {
      for (const at of chosen) await create.runNow({ deployment_id, ...drafts[at] } as never);
      say(chosen.size === 1 ? 'Scenario added' : `${chosen.size} scenarios added`);
      onClose();
    } catch (failure) {
      setError(failure as Error);
    }
  };
  return (
    <Dialog
      description="Drafted from the newest version. Choose which ones to add."
      isOpen
      onClose={onClose}
      title="Drafted scenarios"
      width="wide"
    >
      {generate.isRunning && <Waiting what="Drafting" />}
      {generate.error && <Fault error={generate.error} retry={() => generate.run({ deployment_id } as never)} />}
      <ul className="flex flex-col gap-2">
        {drafts.map((draft, at) => (
          <li key={draft.name}>
            <label className="panel flex gap-3 p-3">
              <input
                checked={chosen.has(at)}
                className="mt-1 size-4 shrink-0 accent-accent"
                onChange={(event) => {
                  const next = new Set(chosen);
                  if (event.target.checked) next.add(at);
                  else next.delete(at);
                  setChosen(next);
                }}
                type="checkbox"
              />
              <span className="min-w-0">
                <span className="block font-medium">{draft.name}</span>
                <span className="block text-quiet text-sm">{draft.goal}</span>
                <span className="block text-sm">Expects: {draft.success_criteria.join(' · ')}</span>
              </span>
            </label>
          </li>
        ))}
      </ul>
      {error && <Fault className="mt-3" error={error} />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button disabled={chosen.size === 0} isBusy={create.isRunning} look="primary" onClick={() => void add()}>
          Add {chosen.size || ''}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
