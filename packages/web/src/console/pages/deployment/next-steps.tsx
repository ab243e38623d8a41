import { Link } from '@tanstack/react-router';
import { useOrgAndMode, useRole } from '../../data/api.ts';
import { useChange, useList } from '../../data/queries.ts';
import type { RouteAnswer } from '../../data/rows.ts';
import { Button, buttonLook } from '../../parts/button.tsx';
import { useFilters } from '../../parts/filters.tsx';
import { Icon } from '../../parts/icons.tsx';
import { say } from '../../parts/notices.tsx';
import { PageLink, useGo } from '../../parts/page-link.tsx';
import { PromoteButton } from './promote-button.tsx';

/** Talk to the agent, run its tests, make it live: what follows once a file is applied. */
export function NextSteps({ deployment }: { deployment: RouteAnswer<'deployments.get'> }) {
  const { org, mode } = useOrgAndMode();
  const { may } = useRole();
  const { id, newest_version, live_version, status } = deployment;
  if (status === 'archived') return null;
  return (
    <>
      {may('conversations.create') && <TalkButton deploymentId={id} />}
      {may('testRuns.create') && <TestsButton deploymentId={id} />}
      {may('deployments.promote') &&
        (mode === 'live' ? (
          <PromoteButton deployment={deployment} look="plain" version={newest_version} />
        ) : (
          live_version !== newest_version && (
            <Link
              className={buttonLook()}
              search={{ to: String(newest_version) } as never}
              to={`/${org}/live/deployments/${id}/versions` as never}
            >
              Make live
            </Link>
          )
        ))}
    </>
  );
}

/** Opens the playground beside the file. */
function TalkButton({ deploymentId }: { deploymentId: string }) {
  const [{ talk }] = useFilters('talk');
  if (talk) return null;
  return (
    <PageLink className={buttonLook('primary')} search={{ talk: 'open' }} to={`/deployments/${deploymentId}`}>
      <Icon name="play" /> Talk
    </PageLink>
  );
}

function TestsButton({ deploymentId: deployment_id }: { deploymentId: string }) {
  const go = useGo();
  const scenarios = useList('scenarios.list', { deployment_id }, { limit: 1 });
  const run = useChange('testRuns.create', {
    touches: ['deployments'],
    onDone: ({ id }) => go(`/test-runs/${id}`),
  });
  if (scenarios.rows.length === 0) {
    return (
      <PageLink className={buttonLook()} search={{ deployment: deployment_id, new: 'yes' }} to="/tests">
        Add tests
      </PageLink>
    );
  }
  const start = () => run.runNow({ deployment_id }).catch((error: Error) => say(error.message));
  return (
    <Button isBusy={run.isRunning} onClick={() => void start()}>
      Run tests
    </Button>
  );
}
