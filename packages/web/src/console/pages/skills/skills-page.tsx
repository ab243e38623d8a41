import { useRole } from '../../data/api.ts';
import { useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import { Button } from '../../parts/button.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { useFilters } from '../../parts/filters.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo } from '../../parts/page-link.tsx';
import { Time } from '../../parts/shown.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { UploadSkill } from './upload-skill.tsx';

type Skill = ItemOf<'skills.list'>;

const columns: Column<Skill>[] = [
  { id: 'name', header: 'Skill', cell: ({ name }) => name },
  {
    id: 'about',
    header: 'Description',
    width: '2.5fr',
    isWideOnly: true,
    cell: ({ description }) => description,
  },
  {
    id: 'version',
    header: 'Version',
    width: '6rem',
    isWideOnly: true,
    cell: ({ version }) => <code className="font-mono text-quiet text-xs">{version?.slice(0, 8) ?? 'built in'}</code>,
  },
  { id: 'changed', header: 'Updated', width: '6.5rem', cell: ({ updated_at }) => <Time at={updated_at} /> },
];

export default function SkillsPage() {
  const [{ source = 'company' }] = useFilters('source');
  const isBuiltIn = source === 'built_in';
  const skills = useList('skills.list', { source: isBuiltIn ? 'built_in' : 'company' });
  const { may } = useRole();
  const uploading = useDialogInAddress('new');
  const go = useGo();
  const upload = may('skills.create') && (
    <Button look="primary" onClick={() => uploading.open()}>
      <Icon name="plus" /> Upload skill
    </Button>
  );
  return (
    <Page
      actions={upload}
      lead="Reusable instructions with the files and scripts they need. An agent loads a skill when a task needs it."
      request={skills.request}
      title="Skills"
    >
      <Tabs
        chosen={isBuiltIn ? 'built_in' : 'company'}
        label="Source"
        tabs={[
          { id: 'company', title: 'Yours', to: '/skills' },
          { id: 'built_in', title: 'Built in', to: '/skills', search: { source: 'built_in' } },
        ]}
      />
      <DataTable
        columns={columns}
        empty={
          <EmptyState
            action={upload}
            example={{
              label: 'A skill is a folder with a SKILL.md such as:',
              code: '---\nname: refund-an-order\ndescription: Use when a customer wants money back.\n---\n\n1. Find the order with find_order.\n2. If it is older than 30 days, say why it cannot be refunded.',
            }}
            icon="skill"
            title="No skills yet"
          >
            Upload a folder as a zip, or a single SKILL.md.
          </EmptyState>
        }
        label="Skills"
        linkOf={({ id, name }) => `/skills/${id ?? name}`}
        list={skills}
      />
      {uploading.value && <UploadSkill onClose={uploading.close} onDone={({ id }) => go(`/skills/${id}`)} />}
    </Page>
  );
}
