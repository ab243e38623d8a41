import { useList } from '../../data/queries.ts';
import type { ItemOf } from '../../data/rows.ts';
import type { Column } from '../../parts/data-table.tsx';
import { useFilters } from '../../parts/filters.tsx';
import { useGo } from '../../parts/page-link.tsx';
import { ResourceList } from '../../parts/resource-list.tsx';
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
  const go = useGo();
  return (
    <ResourceList
      above={
        <Tabs
          chosen={isBuiltIn ? 'built_in' : 'company'}
          label="Source"
          tabs={[
            { id: 'company', title: 'Yours', to: '/skills' },
            { id: 'built_in', title: 'Built in', to: '/skills', search: { source: 'built_in' } },
          ]}
        />
      }
      columns={columns}
      create={{
        label: 'Upload skill',
        row: 'skills.create',
        dialog: (close) => <UploadSkill onClose={close} onDone={({ id }) => go(`/skills/${id}`)} />,
      }}
      empty={{
        icon: 'skill',
        title: 'No skills yet',
        text: 'Upload a folder as a zip, or a single SKILL.md.',
        example: {
          label: 'A skill is a folder with a SKILL.md such as:',
          code: '---\nname: refund-an-order\ndescription: Use when a customer wants money back.\n---\n\n1. Find the order with find_order.\n2. If it is older than 30 days, say why it cannot be refunded.',
        },
      }}
      lead="Reusable instructions with the files and scripts they need. An agent loads a skill when a task needs it."
      linkOf={({ id, name }) => `/skills/${id ?? name}`}
      list={skills}
      title="Skills"
    />
  );
}
