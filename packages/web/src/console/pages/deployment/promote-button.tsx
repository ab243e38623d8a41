import { useState } from 'react';
import { useOrgAndMode, useRole } from '../../data/api.ts';
import { useChange } from '../../data/queries.ts';
import type { RouteAnswer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog, DialogActions } from '../../parts/dialog.tsx';
import { Fault } from '../../parts/fault.tsx';
import { say } from '../../parts/notices.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';

const testsPass = (count: number | undefined) =>
  count === 1 ? 'its test passes' : `its ${count === undefined ? '' : `${count} `}tests pass`;

type PromoteButtonProps = { deployment: RouteAnswer<'deployments.get'>; version: number; look?: 'primary' | 'plain' };

/** In test mode it chooses the draft, in live mode the version of live users. */
export function PromoteButton({ deployment, version, look = 'primary' }: PromoteButtonProps) {
  const { may } = useRole();
  const { mode } = useOrgAndMode();
  const [isAsked, setIsAsked] = useState(false);
  const [when, setWhen] = useState<'now' | 'after_tests'>('after_tests');
  const isRunning = mode === 'live' ? deployment.live_version === version : deployment.draft_version === version;
  const promote = useChange('deployments.promote', {
    touches: ['testRuns'],
    onDone: ({ promoted, test_run }) => {
      setIsAsked(false);
      say(
        promoted
          ? `Version ${version} is ${mode === 'live' ? 'live' : 'the draft'}`
          : `Version ${version} goes live when ${testsPass(test_run?.counts.total)}`,
      );
    },
  });
  const fields = { deployment_id: deployment.id, version, when };
  return (
    <>
      <Button
        disabled={isRunning || !may('deployments.promote') || deployment.status === 'archived'}
        look={isRunning ? 'plain' : look}
        onClick={() => setIsAsked(true)}
      >
        {isRunning ? (mode === 'live' ? 'Live' : 'Current draft') : mode === 'live' ? 'Promote to live' : 'Make draft'}
      </Button>
      <Dialog
        description={
          mode === 'live'
            ? `Version ${version} answers every new message from live users. You can roll back.`
            : `Test mode runs version ${version}.`
        }
        isOpen={isAsked}
        onClose={() => setIsAsked(false)}
        title={`Promote version ${version}?`}
      >
        <fieldset className="flex flex-col gap-2">
          <legend className="sr-only">Promote</legend>
          {(
            [
              ['after_tests', 'When its tests pass'],
              ['now', 'Immediately'],
            ] as const
          ).map(([value, label]) => (
            <label className="flex items-center gap-2" key={value}>
              <input
                checked={when === value}
                className="size-4 accent-accent"
                name="when"
                onChange={() => setWhen(value)}
                type="radio"
              />
              {label}
            </label>
          ))}
        </fieldset>
        {promote.error && <Fault className="mt-3" error={promote.error} />}
        <DialogActions>
          <span className="mr-auto">
            <RequestMenu label="Copy this change as an API request" request={promote.requestOf(fields)} />
          </span>
          <Button onClick={() => setIsAsked(false)}>Cancel</Button>
          <Button isBusy={promote.isRunning} look="primary" onClick={() => promote.run(fields)}>
            Promote
          </Button>
        </DialogActions>
      </Dialog>
    </>
  );
}
