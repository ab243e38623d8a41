import { useRole } from '../../data/api.ts';
import { useList } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { AreaField, FormDialog, TextField } from '../../parts/form.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Section } from '../../parts/page.tsx';
import { PageLink, useGo } from '../../parts/page-link.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { Status, Time, Usd } from '../../parts/shown.tsx';

/** Replays of past conversations with another version. */
export function Replays({ deploymentId: deployment_id }: { deploymentId: string }) {
  const { may } = useRole();
  const replays = useList('replays.list', { deployment_id }, { limit: 10, enabled: may('replays.list') });
  const asking = useDialogInAddress('replay');
  if (!may('replays.list')) return null;
  return (
    <Section
      actions={
        <>
          {may('replays.create') && (
            <Button onClick={() => asking.open()} shape="small">
              <Icon name="play" /> Replay conversations{' '}
            </Button>
          )}
          <RequestMenu request={replays.request} />
        </>
      }
      title="Replays"
    >
      {replays.rows.length === 0 ? (
        <p className="max-w-prose text-quiet">
          Have a new version answer past conversations before it goes live, and compare both answers. No tool runs.
        </p>
      ) : (
        <ul className="panel divide-y">
          {replays.rows.map(({ id, version, status, counts, cost_usd, created_at }) => (
            <li className="flex flex-wrap items-center gap-3 px-3 py-2" key={id}>
              <Status>{status}</Status>
              <PageLink className="font-medium text-accent underline underline-offset-2" to={`/replays/${id}`}>
                version {version}
              </PageLink>
              <span className="figures text-quiet text-sm">
                {counts.same} same · {counts.different} different · {counts.failed} failed
              </span>
              <span className="ml-auto flex gap-3 text-quiet text-sm">
                <Usd value={cost_usd} />
                <Time at={created_at} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {asking.value !== null && <NewReplay deploymentId={deployment_id} onClose={asking.close} />}
    </Section>
  );
}

function NewReplay({ deploymentId: deployment_id, onClose }: { deploymentId: string; onClose: () => void }) {
  const go = useGo();
  return (
    <FormDialog
      description="The version answers past messages again. Tool results are replayed from the record, and no memory, files or browsers are touched. You pay for the model calls."
      title="Replay conversations"
      onClose={onClose}
      fields={{ deployment_id }}
      initial={{ version: '', last: '10', conversation_ids: '' }}
      onDone={({ id }) => go(`/replays/${id}`)}
      row="replays.create"
      send={sent}
      submit="Replay"
    >
      <TextField label="Version" name="version" placeholder="the newest" type="number" />
      <TextField label="Number of latest conversations" name="last" type="number" />
      <AreaField
        hint="Conversation ids, one per line, instead of the latest ones."
        isMono
        label="Selected conversations"
        name="conversation_ids"
        rows={2}
      />
    </FormDialog>
  );
}

function sent({ version, last, conversation_ids }: Record<string, unknown>): Record<string, unknown> {
  const ids = String(conversation_ids ?? '')
    .split(/[\s,]+/)
    .filter(Boolean);
  return {
    ...(version !== '' && { version: Number(version) }),
    ...(ids.length > 0 ? { conversation_ids: ids } : last !== '' && { last: Number(last) }),
  };
}
