import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Transformer } from '@napi-rs/image';
import { strFromU8, unzipSync } from 'fflate';
import { beforeAll, describe, expect, it } from 'vitest';
import { afterFile, newComputers, say } from '../../computers/machine/computer-folder.fixture.ts';
import type { ComputerFolders } from '../../computers/machine/computer-folder.ts';
import { createConfinedHost } from '../../computers/machine/confined-host.ts';
import { extract } from '../documents/extract.ts';
import { skillsFolder } from './scripts.fixture.ts';

const megabyte = 1024 * 1024;
const host = createConfinedHost({
  allowPrivate: false,
  hasNetwork: false,
  limits: { processes: 64, diskBytes: 256 * megabyte, files: 5_000, everyMs: 200 },
});
let folders: ComputerFolders;

/** The code that a skill shows under a heading. */
function taught(skill: string, heading: string): string {
  const text = readFileSync(join(skillsFolder, skill, 'SKILL.md'), 'utf8');
  const code = new RegExp(`^## ${heading}$[\\s\\S]*?^\`\`\`(?:python)?\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(text)?.[1];
  if (code === undefined) throw new Error(`${skill} teaches nothing under ${heading}.`);
  return code;
}

const heredoc = (name: string, content: string) => `cat >${name} <<'END_OF_FILE'\n${content}\nEND_OF_FILE`;
const made = (name: string) => new Uint8Array(readFileSync(join(folders.home, name)));

async function run(...lines: string[]): Promise<string> {
  const said = await say(host, folders, ['set -e', ...lines].join('\n'), { timeoutMs: 60_000 });
  expect([said.exitCode, said.stderr]).toEqual([0, '']);
  return said.stdout;
}

describe.skipIf(process.platform !== 'linux')('built-in document skills on a user’s computer [SKL-125]', () => {
  beforeAll(async () => {
    folders = await (await newComputers()).folders(1);
    afterFile(() => host.release(folders));
    cpSync(skillsFolder, join(folders.home, 'skills'), { recursive: true });
    await run(
      heredoc('sales.csv', 'Month,Sales\nJanuary,120\nMärz,150.5'),
      'python3 skills/documents/scripts/chart.py sales.csv chart.png --title "Sales, €"',
      heredoc('report.py', taught('documents', 'A Word report')),
      heredoc('offer.py', taught('documents', 'A PDF')),
      heredoc('orders.py', taught('spreadsheets', 'Making a workbook')),
      'python3 report.py; python3 offer.py; python3 orders.py',
      heredoc('outline.md', taught('documents', 'A deck')),
      'python3 skills/documents/scripts/deck.py outline.md deck.pptx',
    );
  });

  it('draw a chart as a readable picture', async () => {
    const picture = new Transformer(Buffer.from(made('chart.png')));
    expect(await picture.metadata()).toMatchObject({ format: 'png', width: 1800, height: 1000 });
    const pixels = await picture.rawPixels();
    expect(pixels.filter((value) => value < 128).length).toBeGreaterThan(pixels.length / 100);
  });

  it('write and read a Word report', async () => {
    const other = await extract({ kind: 'docx', content: made('report.docx'), maxCharacters: 10_000 });
    expect(other).toMatchObject({
      text: expect.stringMatching(/Sales in the first quarter[\s\S]*February[\s\S]*brake pads/),
    });
    expect(await run('python3 skills/documents/scripts/office_text.py report.docx')).toContain(
      '# Figures\n| Month | Sales |\n| January | 120 |',
    );
  });

  it('write and read a PDF with letters of all European languages', async () => {
    expect(await run('pdftotext -layout offer.pdf -')).toMatch(/Offer 2026-17\s+For Zoë Müller, Łódź: .* 149\.00 €\./);
    expect(await run('python3 skills/pdf-reading/scripts/pdf_text.py offer.pdf --find gears')).toContain('page 1: ');
  });

  it('write and read a workbook with formulas', async () => {
    const sheet = strFromU8(unzipSync(made('orders.xlsx'))['xl/worksheets/sheet1.xml'] as Uint8Array);
    expect([...sheet.matchAll(/<f>(.*?)<\/f>/g)].map(([, formula]) => formula)).toEqual([
      'B2*C2',
      'B3*C3',
      'SUM(D2:D3)',
    ]);
    const info = await run('python3 skills/spreadsheets/scripts/sheet.py info orders.xlsx');
    expect(info).toContain('3 formulas have no stored result');
    expect(info).toContain('| B | Count | number');
  });

  it('write and read a slide deck', async () => {
    const parts = await run(
      `python3 -c "from docx.opc.package import OpcPackage; print(*sorted(str(part.partname) for part in OpcPackage.open('deck.pptx').iter_parts()))"`,
    );
    for (const part of [
      '/ppt/slides/slide1.xml',
      '/ppt/slides/slide3.xml',
      '/ppt/media/picture1.png',
      '/ppt/theme/theme1.xml',
    ])
      expect(parts.split(/\s/)).toContain(part);
    expect(
      Object.keys(unzipSync(made('deck.pptx'))).filter((name) => !name.includes('_rels') && name.startsWith('ppt/'))
        .length,
    ).toBe(parts.trim().split(/\s/).length);
    expect(await run('python3 skills/documents/scripts/office_text.py deck.pptx')).toContain(
      '--- slide 2 of 3 ---\nRepairs carry the rise\nSales up by a fifth\n',
    );
  });

  it('fill in a PDF form', async () => {
    const form = [
      'from reportlab.pdfgen.canvas import Canvas',
      "canvas = Canvas('form.pdf')",
      "canvas.drawString(50, 780, 'Name')",
      "canvas.acroForm.textfield(name='name', x=50, y=750, width=200, height=20)",
      "canvas.acroForm.checkbox(name='agree', x=50, y=700, size=18)",
      "canvas.acroForm.choice(name='size', options=['S', 'M'], value='S', x=50, y=650, width=80, height=20)",
      'canvas.save()',
    ].join('\n');
    const script = 'python3 skills/pdf-reading/scripts/pdf_form.py';
    await run(
      heredoc('form.py', form),
      'python3 form.py',
      heredoc('values.json', '{"name": "Ada (Köln)", "agree": true, "size": "M"}'),
    );
    await run(`${script} form.pdf --values values.json --output filled.pdf`);
    expect(await run('pdftotext filled.pdf - 2>&1')).toMatch(/Ada \(Köln\)[\s\S]*M/);
    expect(await run(`${script} filled.pdf`)).toBe(
      "name: text, now 'Ada (Köln)'\nagree: box, now '/Yes'\nsize: choice, now 'M', one of ['S', 'M']\n",
    );
  });

  it('name a missing package', async () => {
    const said = await run(
      'for each in "documents/scripts/chart.py sales.csv x.png" "documents/scripts/office_text.py report.docx" \\',
      '  "pdf-reading/scripts/pdf_form.py form.pdf" "spreadsheets/scripts/sheet.py info orders.xlsx"; do',
      '  python3 -S skills/$each 2>&1 || true; done; PATH=/nowhere /usr/bin/python3 skills/pdf-reading/scripts/pdf_text.py offer.pdf 2>&1 || true',
    );
    expect([...said.matchAll(/The package (\S+) is missing: ask the operator/g)].map(([, name]) => name)).toEqual([
      'python3-reportlab',
      'python3-docx',
      'python3-pypdf',
      'python3-openpyxl',
      'poppler-utils',
    ]);
  });
});
