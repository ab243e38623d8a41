import { useAccess } from '../../access/session.ts';
import { Page } from '../../parts/page.tsx';

export default function HomePage() {
  const { session } = useAccess();
  return (
    <Page tabTitle="Home" title={`Hello${session?.member.name ? `, ${session.member.name}` : ''}`}>
      <p className="text-quiet">Choose a page.</p>
    </Page>
  );
}
