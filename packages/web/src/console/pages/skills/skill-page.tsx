import { useParams } from '@tanstack/react-router';
import { useList, useOne } from '../../data/queries.ts';
import type { ItemOf, Request, RouteAnswer } from '../../data/rows.ts';
import { Id } from '../../parts/copy.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { CodeBlock } from '../../parts/empty-state.tsx';
import { useFilters } from '../../parts/filters.tsx';
import { say } from '../../parts/notices.tsx';
import { LoadedPage, Section } from '../../parts/page.tsx';
import { ResourcePage } from '../../parts/resource-page.tsx';
import { bytes, Status, Time } from '../../parts/shown.tsx';
import { UploadSkill } from './upload-skill.tsx';

type Skill = RouteAnswer<'skills.get'>;

export default function SkillPage() {
  const { skill: skill_id } = useParams({ strict: false }) as { skill: string };
  const skill = useOne('skills.get', { skill_id });
  return (
    <LoadedPage above={{ to: '/skills', title: 'Skills' }} query={skill} title="Skill">
      {(found) => <Shown request={skill.request} skill={found} />}
    </LoadedPage>
  );
}

function Shown({ skill, request }: { skill: Skill; request: Request }) {
  const [{ file }, setFilter] = useFilters('file');
  const shown =
    skill.files.find(({ path }) => path === file) ??
    skill.files.find(({ path }) => path === 'SKILL.md') ??
    skill.files[0];
  const { id } = skill;
  return (
    <ResourcePage
      above={{ to: '/skills', title: 'Skills' }}
      {...(id !== null && {
        edit: {
          row: 'skills.replace',
          label: 'Replace files',
          param: 'replace',
          form: (close) => (
            <UploadSkill
              onClose={close}
              onDone={() => {
                say('Files replaced');
                close();
              }}
              skill={{ id, name: skill.name }}
            />
          ),
        },
        remove: {
          row: 'skills.delete',
          fields: { skill_id: id },
          noun: 'skill',
          loses: (
            <>
              <strong className="break-all text-foreground">{skill.name}</strong> is deleted for every user. This fails
              while a live version uses it.
            </>
          ),
          typed: skill.slug,
        },
      })}
      lead={skill.description}
      request={request}
      title={skill.name}
    >
      <p className="mb-5 flex flex-wrap items-center gap-x-4 gap-y-1 text-quiet text-sm">
        {id === null ? <Status tone="accent">built in</Status> : <Id>{id}</Id>}
        <code className="font-mono">{skill.slug}</code>
      </p>
      <Section title={skill.files.length === 1 ? 'File' : `${skill.files.length} files`}>
        <div className="grid gap-3 sm:grid-cols-[15rem_minmax(0,1fr)]">
          <ul className="panel max-h-[60dvh] self-start overflow-y-auto p-1">
            {skill.files.map(({ path, bytes: size }) => (
              <li key={path}>
                <button
                  aria-current={path === shown?.path}
                  className="flex w-full items-center gap-2 rounded-md px-2 py-1 text-left hover:bg-muted aria-[current=true]:bg-muted aria-[current=true]:font-medium"
                  onClick={() => setFilter({ file: path })}
                  type="button"
                >
                  <span className="min-w-0 grow truncate font-mono text-sm" title={path}>
                    {path}
                  </span>
                  <span className="figures text-quiet text-xs">{bytes(size)}</span>
                </button>
              </li>
            ))}
          </ul>
          {shown && <CodeBlock code={shown.content} />}
        </div>
      </Section>
      {id !== null && <Versions skillId={id} />}
      <CodeBlock
        code={`skills:\n  - ${id === null ? `name: ${skill.slug}` : `id: ${id}`}`}
        label="Add this skill to a deployment file:"
      />
    </ResourcePage>
  );
}

/** As short as in the list of skills. The tooltip has all of it. */
const Hash = ({ children }: { children: string }) => (
  <code className="font-mono text-quiet text-sm" title={children}>
    {children.slice(0, 8)}
  </code>
);

const versionColumns: Column<ItemOf<'skills.versions'>>[] = [
  { id: 'hash', header: 'Version', cell: ({ hash }) => <Hash>{hash}</Hash> },
  {
    id: 'parent',
    header: 'Parent',
    isWideOnly: true,
    cell: ({ parent_hash }) => (parent_hash === null ? 'none' : <Hash>{parent_hash}</Hash>),
  },
  { id: 'made', header: 'Created', width: '7rem', cell: ({ created_at }) => <Time at={created_at} /> },
];

function Versions({ skillId }: { skillId: string }) {
  const versions = useList('skills.versions', { skill_id: skillId });
  return (
    <Section title="Versions">
      <DataTable columns={versionColumns} empty={null} label="Versions" list={versions} />
    </Section>
  );
}
