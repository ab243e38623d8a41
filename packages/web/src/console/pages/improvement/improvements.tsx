import { useRole } from '../../data/api.ts';
import { useList } from '../../data/queries.ts';
import type { RouteAnswer } from '../../data/rows.ts';
import { FormDialog, TextField } from '../../parts/form.tsx';
import { Section } from '../../parts/page.tsx';
import { PageLink, useGo } from '../../parts/page-link.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { Status, Time, type Tone, Usd } from '../../parts/shown.tsx';

type Outcome = NonNullable<RouteAnswer<'improvements.get'>['outcome']>;

export const outcomeTones: Readonly<Record<Outcome, Tone>> = {
  improved: 'good',
  not_reproduced: 'quiet',
  not_fixed: 'warn',
  regressed: 'danger',
  budget_reached: 'warn',
};

/** The improvements of a deployment, newest first. */
export function Improvements({ deploymentId: deployment_id }: { deploymentId: string }) {
  const { may } = useRole();
  const improvements = useList(
    'improvements.list',
    { deployment_id },
    { limit: 10, enabled: may('improvements.list') },
  );
  if (improvements.rows.length === 0) return null;
  return (
    <Section actions={<RequestMenu request={improvements.request} />} className="mt-8" title="Improvements">
      <ul className="panel divide-y">
        {improvements.rows.map(
          ({ id, base_version, version, status, outcome, before, after, cost_usd, created_at }) => (
            <li className="flex flex-wrap items-center gap-3 px-3 py-2" key={id}>
              <Status {...(outcome && { tone: outcomeTones[outcome] })}>{outcome ?? status}</Status>
              <PageLink className="font-medium text-accent underline underline-offset-2" to={`/improvements/${id}`}>
                version {base_version}
                {version !== null && ` → ${version}`}
              </PageLink>
              <span className="figures text-quiet text-sm">
                {before && `${before.passed} of ${before.runs} passed before`}
                {before && after && ', '}
                {after && `${after.passed} of ${after.runs} after`}
              </span>
              <span className="ml-auto flex gap-3 text-quiet text-sm">
                <Usd value={cost_usd} />
                <Time at={created_at} />
              </span>
            </li>
          ),
        )}
      </ul>
    </Section>
  );
}

export function NewImprovement({
  deploymentId: deployment_id,
  insightId: insight_id,
  onClose,
}: {
  deploymentId: string;
  insightId: string;
  onClose: () => void;
}) {
  const go = useGo();
  return (
    <FormDialog
      description="Vestra plays these failures again, proposes a change to the instructions, function descriptions or documents, and plays everything before and after. Nothing goes live by itself. You pay for the model calls."
      fields={{ deployment_id, from: { type: 'insight', insight_id } }}
      initial={{ budget_usd: '5', rounds: '2' }}
      onClose={onClose}
      onDone={({ id }) => go(`/improvements/${id}`)}
      row="improvements.create"
      send={({ budget_usd, rounds }) => ({
        ...(budget_usd !== '' && { budget_usd: Number(budget_usd) }),
        ...(rounds !== '' && { rounds: Number(rounds) }),
      })}
      submit="Start"
      title="Improve the agent"
    >
      <TextField label="Budget in US dollars" name="budget_usd" type="number" />
      <TextField label="Rounds" name="rounds" type="number" />
    </FormDialog>
  );
}
