import { deflateSync } from 'node:zlib';
import { strToU8, zipSync } from 'fflate';

/** A small, valid PDF: one page per list of lines. */
export function pdfOf(pages: readonly (readonly string[])[]): Uint8Array {
  return pdfWith(pages.map((lines) => Buffer.from(`BT /F1 12 Tf 72 720 Td 14 TL ${lines.map(showLine).join(' ')} ET`)));
}

const showLine = (line: string) => `(${line.replace(/[\\()]/g, '\\$&')}) Tj T*`;

/** A PDF whose pages draw these contents, each compressed. Each page may draw the picture, a row of grey pixels. */
export function pdfWith(contents: readonly Uint8Array[], picture: Uint8Array = new Uint8Array([0])): Uint8Array {
  const pictureNumber = 4 + contents.length * 2;
  const pageNumbers = contents.map((_, at) => 4 + at * 2);
  const objects: Buffer[] = [
    Buffer.from('<< /Type /Catalog /Pages 2 0 R >>'),
    Buffer.from(
      `<< /Type /Pages /Kids [${pageNumbers.map((number) => `${number} 0 R`).join(' ')}] /Count ${contents.length} >>`,
    ),
    Buffer.from('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'),
    ...contents.flatMap((content, at) => {
      const compressed = deflateSync(content);
      return [
        Buffer.from(
          `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + at * 2} 0 R /Resources << /Font << /F1 3 0 R >> /XObject << /P ${pictureNumber} 0 R >> >> >>`,
        ),
        Buffer.concat([
          Buffer.from(`<< /Length ${compressed.length} /Filter /FlateDecode >>\nstream\n`),
          compressed,
          Buffer.from('\nendstream'),
        ]),
      ];
    }),
    Buffer.concat([
      Buffer.from(
        `<< /Type /XObject /Subtype /Image /Width ${picture.length} /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length ${picture.length} >>\nstream\n`,
      ),
      picture,
      Buffer.from('\nendstream'),
    ]),
  ];
  const parts = [Buffer.from('%PDF-1.4\n')];
  let at = 9;
  const offsets = objects.map((object, index) => {
    const offset = at;
    const part = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from('\nendobj\n')]);
    parts.push(part);
    at += part.length;
    return offset;
  });
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`;
  parts.push(Buffer.from(`${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${at}\n%%EOF\n`));
  return Buffer.concat(parts);
}

/** A Word document with this body and, beside it, this picture. */
export function docxOf(body: string, picture: Uint8Array = new Uint8Array()): Uint8Array {
  return zipSync({
    'word/media/image1.png': picture,
    '[Content_Types].xml': strToU8(
      '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
    ),
    '_rels/.rels': strToU8(
      '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
    ),
    'word/document.xml': strToU8(
      `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`,
    ),
  });
}

export const paragraph = (text: string, style?: string) =>
  `<w:p>${style ? `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>` : ''}<w:r><w:t>${text}</w:t></w:r></w:p>`;

export const table = (rows: readonly (readonly string[])[]) =>
  `<w:tbl>${rows.map((cells) => `<w:tr>${cells.map((cell) => `<w:tc>${paragraph(cell)}</w:tc>`).join('')}</w:tr>`).join('')}</w:tbl>`;

const relationships = (targets: readonly { id: string; type: string; target: string }[]) =>
  strToU8(
    `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${targets
      .map(
        ({ id, type, target }) =>
          `<Relationship Id="${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/>`,
      )
      .join('')}<Relationship Id="out" Type="x/hyperlink" Target="http://[" TargetMode="External"/></Relationships>`,
  );

type Sheet = { name: string; state?: string; rows: string };

/** A workbook with these sheets; `styles` are the number formats of its cells, from 0 on. */
export function xlsxOf(sheets: readonly Sheet[], { shared = '', styles = '' } = {}): Uint8Array {
  const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
  return zipSync({
    'xl/workbook.xml': strToU8(
      `\ufeff<?xml version="1.0"?><workbook ${main} xmlns:r="r"><workbookPr/><sheets>${sheets
        .map(({ name, state }, at) => `<sheet name="${name}" r:id="s${at}"${state ? ` state="${state}"` : ''}/>`)
        .join('')}</sheets></workbook>`,
    ),
    'xl/_rels/workbook.xml.rels': relationships(
      sheets.map((_, at) => ({ id: `s${at}`, type: 'worksheet', target: `/xl/worksheets/sheet${at}.xml` })),
    ),
    'xl/sharedStrings.xml': strToU8(`<sst ${main}>${shared}</sst>`),
    'xl/styles.xml': strToU8(`<styleSheet ${main}>${styles}</styleSheet>`),
    ...Object.fromEntries(
      sheets.map(({ rows }, at) => [
        `xl/worksheets/sheet${at}.xml`,
        strToU8(`<x:worksheet xmlns:x="m"><x:sheetData>${rows}</x:sheetData></x:worksheet>`),
      ]),
    ),
  });
}

/** A presentation with these slides, in reverse order within the file, each with its shapes and notes. */
export function pptxOf(slides: readonly { shapes: string; show?: string; notes?: string }[]): Uint8Array {
  const slideOf = (shapes: string, show = '1') =>
    strToU8(`<p:sld xmlns:p="p" xmlns:a="a" show="${show}"><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`);
  const parts = slides.flatMap(({ shapes, show, notes }, at) => [
    [`ppt/slides/slide${at}.xml`, slideOf(shapes, show)] as const,
    ...(notes === undefined
      ? []
      : [
          [
            `ppt/slides/_rels/slide${at}.xml.rels`,
            relationships([{ id: 'n', type: 'notesSlide', target: `../notesSlides/notes${at}.xml` }]),
          ] as const,
          [`ppt/notesSlides/notes${at}.xml`, slideOf(notes)] as const,
        ]),
  ]);
  return zipSync({
    'ppt/presentation.xml': strToU8(
      `<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst>${slides
        .map((_, at) => `<p:sldId id="${256 + at}" r:id="s${at}"/>`)
        .join('')}</p:sldIdLst></p:presentation>`,
    ),
    'ppt/_rels/presentation.xml.rels': relationships(
      slides.map((_, at) => ({ id: `s${at}`, type: 'slide', target: `slides/slide${at}.xml` })),
    ),
    ...Object.fromEntries(parts.toReversed()),
  });
}

export const shape = (text: string, role?: string) =>
  `<p:sp><p:nvSpPr><p:nvPr>${role ? `<p:ph type="${role}"/>` : ''}</p:nvPr></p:nvSpPr><p:txBody>${text
    .split('\n')
    .map((line) => `<a:p><a:r><a:t>${line}</a:t></a:r></a:p>`)
    .join('')}</p:txBody></p:sp>`;
