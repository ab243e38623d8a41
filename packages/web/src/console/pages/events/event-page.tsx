import { useParams } from '@tanstack/react-router';
import { useOne } from '../../data/queries.ts';
import { Id } from '../../parts/copy.tsx';
import { CodeBlock } from '../../parts/empty-state.tsx';
import { Facts, Loaded, Page, Section } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { exactTime, Status } from '../../parts/shown.tsx';
import { pageOfId } from '../../shell/page-of-id.ts';
import { subjectOf } from './subject.ts';

/** One event with the payload that endpoints receive. */
export default function EventPage() {
  const { event: event_id } = useParams({ strict: false }) as { event: string };
  const event = useOne('events.get', { event_id });
  return (
    <Page
      above={{ to: '/events', title: 'Events' }}
      request={event.request}
      tabTitle="Event"
      title={event.data?.type ?? 'Event'}
    >
      <Loaded query={event}>
        {(found) => (
          <>
            <Section title="Event">
              <Facts
                rows={[
                  ['Id', <Id key="id">{found.id}</Id>],
                  ['Time', exactTime(found.created_at)],
                  [
                    'Mode',
                    <Status key="mode" tone={found.mode === 'live' ? 'good' : 'warn'}>
                      {found.mode}
                    </Status>,
                  ],
                  ['Subject', <Subject id={subjectOf(found)} key="about" />],
                ]}
              />
            </Section>
            <Section title="Payload">
              <CodeBlock code={JSON.stringify(found, null, 2)} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Subject({ id }: { id: string }) {
  const place = pageOfId(id);
  if (!place) return <code className="break-all font-mono text-sm">{id}</code>;
  return (
    <PageLink className="break-all font-mono text-sm text-accent underline underline-offset-2" to={place.to}>
      {id}
    </PageLink>
  );
}
