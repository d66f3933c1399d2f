import { type Document, isAlias, isCollection, isMap, isScalar, isSeq, visit } from 'yaml';
import { type DefinitionFormat, parseDefinition, writeDocument } from './definition-text.ts';

/** Edits of a definition's text by form. They keep comments and whatever they do not change. */

export type DefinitionPath = readonly (string | number)[];
export type DefinitionEdit = (document: Document) => void;

/** The text after an edit. The text must be readable. */
export function editDefinition(
  text: string,
  format: DefinitionFormat,
  edit: DefinitionEdit,
): string {
  const document = parseDefinition(text) as Document;
  edit(document);
  return writeDocument(document, format);
}

/** Sets the value at a path, or removes it if the value is undefined; a collection that becomes empty goes too. */
export function setValue(path: DefinitionPath, value: unknown): DefinitionEdit {
  return (document) => {
    if (value === undefined) return removeValue(document, path);
    for (let length = 1; length < path.length; length++) openAt(document, path.slice(0, length));
    document.setIn(path, isPlain(value) ? value : document.createNode(value));
  };
}

/** Makes the value at a path a collection that can be edited: `forEach:` without a value is null, and an alias is shared. */
function openAt(document: Document, path: DefinitionPath): void {
  const node = document.getIn(path, true);
  if (node === undefined || isCollection(node)) return;
  const value: unknown = isAlias(node) ? node.toJS(document) : {};
  document.setIn(path, document.createNode(value));
}

/** Sets several values at once, and removes the undefined ones last: a collection must not become empty meanwhile. */
export function setValues(
  at: DefinitionPath,
  values: Readonly<Record<string, unknown>>,
): DefinitionEdit {
  return (document) => {
    const removedLast = Object.entries(values).toSorted(
      ([, a], [, b]) => Number(a === undefined) - Number(b === undefined),
    );
    for (const [name, value] of removedLast) setValue([...at, name], value)(document);
  };
}

function removeValue(document: Document, path: DefinitionPath): void {
  if (!document.hasIn(path)) return;
  document.deleteIn(path);
  const parent = path.slice(0, -1);
  const within = document.getIn(parent, true);
  const isEmpty = (isMap(within) || isSeq(within)) && within.items.length === 0;
  if (parent.length > 0 && isEmpty) removeValue(document, parent);
}

export function addStep(step: Readonly<Record<string, unknown>>): DefinitionEdit {
  return (document) => {
    const added = document.createNode(step);
    const steps = document.getIn(['steps'], true);
    if (isSeq(steps)) steps.add(added);
    else document.setIn(['steps'], document.createNode([added]));
  };
}

/** References to it become problems. */
export function removeStep(index: number): DefinitionEdit {
  return (document) => removeValue(document, ['steps', index]);
}

/** Renames a step and the references to it. */
export function renameStep(index: number, to: string): DefinitionEdit {
  return (document) => {
    const from = document.getIn(['steps', index, 'name']);
    document.setIn(['steps', index, 'name'], to);
    if (typeof from !== 'string' || from === '') return;
    const name = escaped(from);
    const references = new RegExp(`(\\{\\{[ \\t]*steps\\.)${name}(?=\\.output)`, 'g');
    const inCondition = new RegExp(`(\\bsteps\\.|\\bsteps\\[\\s*["'])${name}(?!\\w)`, 'g');
    visit(document, {
      Pair(_, { key, value }) {
        const field = isScalar(key) ? key.value : key;
        if (field === 'when' && isScalar(value) && typeof value.value === 'string') {
          value.value = value.value.replace(inCondition, `$1${to}`);
        }
        if (field !== 'after' || !isSeq(value)) return;
        for (const item of value.items) {
          if (isScalar(item) && item.value === from) item.value = to;
        }
      },
      Scalar(key, node) {
        if (key === 'key' || typeof node.value !== 'string') return;
        node.value = node.value.replace(references, `$1${to}`);
      },
    });
  };
}

const escaped = (text: string) => text.replace(/[^\w]/g, '\\$&');

/** Whether it replaces the value of a scalar, which keeps its comment and its quotes. */
const isPlain = (value: unknown) => typeof value !== 'object' || value === null;
