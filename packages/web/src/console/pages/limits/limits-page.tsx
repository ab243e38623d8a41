import { useRole } from '../../data/api.ts';
import { useList, useOne } from '../../data/queries.ts';
import type { RouteAnswer } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { FieldFrame, FormDialog, TextField, useForm } from '../../parts/form.tsx';
import { SpendMeter } from '../../parts/meter.tsx';
import { UserName, useNames } from '../../parts/names.tsx';
import { Facts, Loaded, Page, Section } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { count, Time, usd } from '../../parts/shown.tsx';

type Limits = RouteAnswer<'limits.get'>;

const caps = [
  ['org_daily_usd', 'Org, per day', 'Total spend per UTC day. New requests are rejected when it is reached.'],
  ['org_monthly_usd', 'Org, per month', 'Total spend per UTC month.'],
  ['user_daily_usd', 'Each user, per day', 'For users without an individual cap.'],
  ['user_monthly_usd', 'Each user, per month', 'For users without an individual cap.'],
] as const;

const inWords = new Intl.ListFormat('en', { type: 'conjunction' });

const today = () => new Date().toISOString().slice(0, 10);

export default function LimitsPage() {
  const { may } = useRole();
  const limits = useOne('limits.get', {});
  const org = useOne('orgs.get', {}, { enabled: may('orgs.get') });
  const day = useOne('usage.report', { from: today(), to: today(), limit: 1 }, { enabled: may('usage.report') });
  const month = useOne(
    'usage.report',
    { from: `${today().slice(0, 7)}-01`, to: today(), limit: 1 },
    { enabled: may('usage.report') },
  );
  const editing = useDialogInAddress('edit');
  return (
    <Page
      actions={
        <Button disabled={!may('limits.update')} look="primary" onClick={() => editing.open()}>
          Change limits
        </Button>
      }
      lead="Spend caps, alerts before they are reached, and API rate limits."
      request={limits.request}
      title="Limits and alerts"
    >
      <Loaded query={limits}>
        {(found) => (
          <>
            <div className="mb-6 grid gap-3 sm:grid-cols-3">
              <SpendMeter cap={found.caps.org_daily_usd} label="Spent today" spent={day.data?.total.cost_usd ?? 0} />
              <SpendMeter
                cap={found.caps.org_monthly_usd}
                label="Spent this month"
                spent={month.data?.total.cost_usd ?? 0}
              />
              <div className="panel p-4">
                <p className="eyebrow">Wallet</p>
                <p className="figures mt-1 font-semibold text-xl tracking-tight">
                  {org.data ? usd(org.data.balance_usd) : '–'}
                </p>
                <p className="mt-1.5 text-quiet text-sm">
                  {org.data?.mode === 'test' ? 'Test money' : 'Remaining balance. The server operator tops it up.'}
                </p>
              </div>
            </div>
            <Section title="Caps">
              <Facts
                rows={[
                  ...caps.map(
                    ([name, label]) => [label, found.caps[name] === null ? 'no cap' : usd(found.caps[name])] as const,
                  ),
                  ['Maximum daily org cap', usd(found.caps.max_org_daily_usd)] as const,
                ]}
              />
            </Section>
            <Section title="Alerts">
              <p className="mb-3 max-w-prose text-pretty">
                {found.usage_alerts.thresholds.length === 0
                  ? 'No alerts are sent before a cap is reached.'
                  : `Vestra sends an event when spend reaches ${inWords.format(found.usage_alerts.thresholds.map((each) => `${each}%`))} of a cap.`}{' '}
                <PageLink className="text-accent underline underline-offset-2" to="/webhooks">
                  Add a webhook
                </PageLink>{' '}
                to receive it.
              </p>
              {may('events.list') && <Alerts />}
            </Section>
            <Section actions={<RequestMenu request={limits.request} />} title="API requests">
              <Facts
                rows={[
                  ['Per minute', `${count(found.rate_limits.requests_per_minute)} requests`],
                  ['Burst', `${count(found.rate_limits.burst)} requests`],
                ]}
              />
            </Section>
            {editing.value && <EditLimits limits={found} onClose={editing.close} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function EditLimits({ limits, onClose }: { limits: Limits; onClose: () => void }) {
  const initial = {
    ...Object.fromEntries(caps.map(([name]) => [name, limits.caps[name] ?? ''])),
    caps: '',
    usage_alerts: limits.usage_alerts.thresholds.join(', '),
  };
  return (
    <FormDialog
      title="Change limits"
      notice="Limits saved"
      onClose={onClose}
      initial={initial}
      row="limits.update"
      send={({ usage_alerts, caps: _, ...values }) => ({
        caps: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value === '' ? null : value])),
        usage_alerts: { thresholds: percentages(usage_alerts) },
      })}
      submit="Save limits"
      touches={['orgs', 'usage', 'users']}
    >
      {caps.map(([name, label, hint]) => (
        <CapField hint={hint} key={name} label={`${label} (USD)`} name={name} />
      ))}
      <TextField
        hint="Up to five percentages of a cap, separated by commas."
        label="Alerts at (%)"
        name="usage_alerts"
        placeholder="50, 80, 100"
      />
    </FormDialog>
  );
}

/** Caps are nested in the contract, so errors name them by path. */
function CapField({ name, label, hint }: { name: string; label: string; hint: string }) {
  const { values, set } = useForm();
  return (
    <FieldFrame hint={`${hint} Leave empty for no cap.`} label={label} name={`caps.${name}`}>
      {(ids) => (
        <input
          {...ids}
          className="control"
          inputMode="decimal"
          onChange={(event) => {
            const text = event.target.value;
            set(name, text.trim() === '' ? '' : Number.isNaN(Number(text)) ? text : Number(text));
          }}
          step="any"
          type="number"
          value={String(values[name] ?? '')}
        />
      )}
    </FieldFrame>
  );
}

/** Invalid numbers are sent unchanged, so that the server reports the error. */
const percentages = (text: unknown): unknown[] =>
  String(text ?? '')
    .split(/[,\s%]+/)
    .filter((word) => word !== '')
    .map((word) => (Number.isNaN(Number(word)) ? word : Number(word)));

type Alert = { cap: string; threshold: number; cap_usd: number; spend_usd: number; user_id: string | null };

const capNames: Readonly<Record<string, string>> = {
  org_daily_usd: 'Daily org cap',
  org_monthly_usd: 'Monthly org cap',
  user_daily_usd: 'Daily user cap',
  user_monthly_usd: 'Monthly user cap',
};

/** The latest cap alerts, newest first. */
function Alerts() {
  const near = useList('events.list', { type: 'usage.threshold_reached' }, { limit: 10 });
  const reached = useList('events.list', { type: 'usage.cap_reached' }, { limit: 10 });
  const names = useNames();
  const rows = [...near.rows, ...reached.rows]
    .sort((one, other) => other.created_at.localeCompare(one.created_at))
    .slice(0, 10);
  if (rows.length === 0) {
    return <p className="text-quiet">{near.isLoading || reached.isLoading ? 'Loading…' : 'No alerts yet.'}</p>;
  }
  return (
    <ul className="panel divide-y" data-alerts="">
      {rows.map(({ id, type, data, created_at }) => {
        const { cap, threshold, cap_usd, spend_usd, user_id } = data as unknown as Alert;
        const isReached = type === 'usage.cap_reached';
        return (
          <li key={id}>
            <PageLink className="flex items-center gap-3 px-3 py-2 hover:bg-muted/50" to={`/events/${id}`}>
              <span className={`min-w-0 break-words ${isReached ? 'text-danger' : ''}`}>
                {capNames[cap] ?? cap}
                {user_id !== null && (
                  <>
                    {' '}
                    of <UserName id={user_id} names={names} />
                  </>
                )}
                , {usd(cap_usd)}, {isReached ? 'reached: new requests are rejected' : `${threshold}% used`}
              </span>
              <span className="figures ml-auto whitespace-nowrap text-quiet text-sm max-sm:hidden">
                {usd(spend_usd)} spent
              </span>
              <span className="text-quiet text-sm">
                <Time at={created_at} />
              </span>
            </PageLink>
          </li>
        );
      })}
    </ul>
  );
}
