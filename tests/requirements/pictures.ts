import { area } from '../requirement.ts';

export const pictures = area('pictures', 'done', [
  [
    'PIC-001',
    'docs/reasoning-and-pictures.md#pictures-from-tools',
    "Media that a tool returns beside text reaches a model that accepts it, in its vendor's format.",
  ],
  [
    'PIC-002',
    'docs/reasoning-and-pictures.md#pictures-from-tools',
    'A model that cannot take a picture or a recording reads a line with its kind and size.',
  ],
  [
    'PIC-003',
    'docs/reasoning-and-pictures.md#settings',
    '`OPENAI_COMPATIBLE_TAKES` lists what the models of a compatible endpoint read beside text.',
  ],
  [
    'PIC-004',
    'docs/reasoning-and-pictures.md#pictures-from-tools',
    'In a long run the newest pictures are sent; older ones are left out several at once, and each is named in a line.',
  ],
  [
    'PIC-005',
    'docs/reasoning-and-pictures.md#pictures-from-tools',
    'Pictures are stored as small as models see them; one that claims too many pixels is never decoded.',
  ],
  [
    'PIC-006',
    'docs/reasoning-and-pictures.md#pictures-from-tools',
    'Images, audio and such resources of an MCP server are taken, a bounded number of them.',
  ],
  [
    'PIC-007',
    'docs/reasoning-and-pictures.md#pictures-from-tools',
    'A picture is stored beside its step, shown in the trace with a link, and deleted with the task, the user and old traces.',
  ],
  [
    'PIC-009',
    'docs/reasoning-and-pictures.md#vendor-refusals',
    'A request with a tool’s pictures that is refused is sent once more with a line in the place of each.',
  ],
  [
    'PIC-008',
    'docs/reasoning-and-pictures.md#pictures-from-tools',
    'The agent sees the page that it takes a picture of, and pictures on its computer.',
  ],
]);
