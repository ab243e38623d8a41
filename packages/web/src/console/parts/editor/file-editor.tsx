import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit } from '@codemirror/language';
import { type Diagnostic, forceLinting, linter, lintGutter, lintKeymap } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { deploymentFile } from '@vestra/contract/deployment-file';
import { check } from '@vestra/contract/fault';
import { useEffect, useRef } from 'react';
import { type Document, isMap, isSeq, parseDocument } from 'yaml';
import { z } from 'zod';
import { editorLook } from './editor-look.ts';
import { faultsBesideLines } from './faults-beside-lines.ts';

type FileEditorProps = {
  value: string;
  onChange: (text: string) => void;
  /** Errors from the server, shown at their fields until the text changes. */
  refused?: readonly FileFault[];
  /** Counts refused applies. Each scrolls to the first fault. */
  refusals?: number;
  onSave?: () => void;
  label: string;
};

/** The editor of a deployment file, with completion and errors from the contract. Escape, then Tab leaves it. */
export default function FileEditor({
  value,
  onChange,
  refused = noFaults,
  refusals = 0,
  onSave,
  label,
}: FileEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const now = useRef({ onChange, onSave, refused, first: value });
  now.current = { ...now.current, onChange, onSave, refused };

  useEffect(() => {
    const made = new EditorView({
      parent: place.current as HTMLDivElement,
      state: EditorState.create({
        doc: now.current.first,
        extensions: [
          editorLook,
          lineNumbers(),
          foldGutter(),
          history(),
          drawSelection(),
          indentOnInput(),
          indentUnit.of('  '),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
          EditorView.lineWrapping,
          yaml(),
          autocompletion({ override: [completeField], icons: false }),
          lintGutter(),
          faultsBesideLines,
          linter((shown) => faultsOf(shown.state.doc.toString(), now.current.refused)),
          keymap.of([
            {
              key: 'Mod-s',
              run: () => {
                now.current.onSave?.();
                return true;
              },
            },
            ...closeBracketsKeymap,
            ...defaultKeymap,
            ...historyKeymap,
            ...foldKeymap,
            ...completionKeymap,
            ...lintKeymap,
            indentWithTab,
          ]),
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) now.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = made;
    return () => made.destroy();
  }, [label]);

  useEffect(() => {
    const shown = view.current;
    if (!shown || shown.state.doc.toString() === value) return;
    shown.dispatch({ changes: { from: 0, to: shown.state.doc.length, insert: value } });
  }, [value]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: lint again when the server's errors change.
  useEffect(() => {
    if (view.current) forceLinting(view.current);
  }, [refused]);

  useEffect(() => {
    const shown = view.current;
    if (!shown || refusals === 0) return;
    const [first] = faultsOf(shown.state.doc.toString(), now.current.refused);
    if (first) shown.dispatch({ effects: EditorView.scrollIntoView(first.from, { y: 'center' }) });
  }, [refusals]);

  return <div className="panel overflow-hidden [&_.cm-editor]:min-h-72 [&_.cm-editor]:max-h-[70dvh]" ref={place} />;
}

const noFaults: readonly FileFault[] = [];

type Json = { [key: string]: unknown };

/** An error in the deployment file. */
type FileFault = { param: string; message: string };

/** The errors of the text, or else those of the server. */
function faultsOf(text: string, refused: readonly FileFault[]): Diagnostic[] {
  const found = faultsIn(text);
  return found.length > 0 ? found : placedIn(text, refused);
}

/** The errors of the text, with the server's messages, at their positions. */
function faultsIn(text: string): Diagnostic[] {
  const document = parseDocument(text, { merge: true });
  if (document.errors.length > 0) {
    return document.errors.map(({ pos: [from, to], message }) => ({
      from,
      to: Math.max(to, from + 1),
      severity: 'error',
      message: message.split('\n')[0] ?? message,
    }));
  }
  const checked = check(deploymentFile, document.toJS(), 'invalid_manifest');
  return checked.ok ? [] : placedFaults(document, checked.faults);
}

/** Places errors of the server at the fields they name. */
const placedIn = (text: string, faults: readonly FileFault[]): Diagnostic[] =>
  placedFaults(parseDocument(text), faults);

function placedFaults(document: Document, faults: readonly FileFault[]): Diagnostic[] {
  return faults.map(({ param, message }) => {
    const [from, to] = rangeOf(document, param === '' ? [] : param.split('.'));
    return {
      from,
      to: Math.max(to, from + 1),
      severity: 'error',
      message: param === '' ? message : `${param}: ${message}`,
    };
  });
}

/** The range of a field, or of its nearest existing parent. */
function rangeOf(document: Document, path: readonly string[]): [number, number] {
  let node: unknown = document.contents;
  let range: [number, number] = [0, 1];
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => String((key as { value?: unknown }).value ?? key) === step);
      if (!pair) return range;
      const key = pair.key as { range?: [number, number, number] };
      if (key.range) range = [key.range[0], key.range[1]];
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(step)];
      const item = node as { range?: [number, number, number] } | undefined;
      if (item?.range) range = [item.range[0], Math.min(item.range[1], item.range[0] + 1)];
    } else return range;
  }
  const last = node as { range?: [number, number, number] } | null;
  return last?.range && !isMap(node) && !isSeq(node) ? [last.range[0], last.range[1]] : range;
}

let schema: Json | undefined;
const wholeSchema = () =>
  (schema ??= z.toJSONSchema(deploymentFile, { io: 'input', unrepresentable: 'any' }) as unknown as Json);

/** Completes field names, or the values of a field. */
function completeField(context: CompletionContext): CompletionResult | null {
  const line = context.state.doc.lineAt(context.pos);
  const before = line.text.slice(0, context.pos - line.from);
  const value = /^(\s*(?:- )?)([\w$]+):\s+([\w-]*)$/.exec(before);
  if (value) {
    const [, indent = '', key = '', typed = ''] = value;
    const field = fieldsAt(pathAbove(context, line.number, indent.length))[key];
    const options = valuesOf(field).map((label): Completion => ({ label, type: 'enum' }));
    return options.length === 0 ? null : { from: context.pos - typed.length, options };
  }
  const key = /^(\s*(?:- )?)([\w$]*)$/.exec(before);
  if (!key || (!context.explicit && key[2] === '')) return null;
  const fields = fieldsAt(pathAbove(context, line.number, (key[1] ?? '').length));
  const options = Object.entries(fields).map(
    ([label, field]): Completion => ({
      label,
      apply: `${label}: `,
      type: 'property',
      detail: typeof field.type === 'string' ? field.type : '',
      ...(typeof field.description === 'string' && { info: field.description }),
    }),
  );
  return options.length === 0 ? null : { from: context.pos - (key[2] ?? '').length, options };
}

/** The parent fields of a line, outermost first, found by indentation. */
function pathAbove({ state }: CompletionContext, lineNumber: number, indent: number): string[] {
  const path: string[] = [];
  let within = indent;
  for (let number = lineNumber - 1; number > 0 && within > 0; number--) {
    const found = /^(\s*)(- )?([\w$]+):/.exec(state.doc.line(number).text);
    if (!found) continue;
    const [, spaces = '', dash = '', key = ''] = found;
    if (spaces.length + dash.length >= within) continue;
    path.unshift(key);
    within = dash ? spaces.length : spaces.length + dash.length;
  }
  return path;
}

function fieldsAt(path: readonly string[]): Record<string, Json> {
  let here: Json[] = [wholeSchema()];
  for (const step of path)
    here = here.flatMap(propertiesOf).flatMap((fields) => (fields[step] ? [fields[step] as Json] : []));
  return Object.assign({}, ...here.flatMap(propertiesOf));
}

/** The properties of an object schema, of array items and of union members. */
function propertiesOf(node: Json): Record<string, Json>[] {
  const forms = [
    ...((node.anyOf as Json[]) ?? []),
    ...((node.oneOf as Json[]) ?? []),
    ...((node.allOf as Json[]) ?? []),
  ];
  const items = node.items ? [node.items as Json] : [];
  const own = node.properties ? [node.properties as Record<string, Json>] : [];
  return [...own, ...[...forms, ...items].flatMap(propertiesOf)];
}

function valuesOf(field: Json | undefined): string[] {
  if (!field) return [];
  if (Array.isArray(field.enum)) return field.enum.map(String);
  if (field.const !== undefined) return [String(field.const)];
  if (field.type === 'boolean') return ['true', 'false'];
  return ((field.anyOf as Json[]) ?? []).flatMap(valuesOf);
}
