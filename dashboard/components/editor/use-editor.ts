import { completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { Annotation, Compartment, EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { type RefObject, useEffect, useRef } from 'react';
import { editorTheme } from './editor-theme.ts';

interface Edited {
  readonly label: string;
  readonly value: string;
  readonly readOnly: boolean;
  readonly onChange: (value: string) => void;
}

/**
 * Creates a CodeMirror editor in `parent` once. `make` adds extensions; later values must be read through refs.
 * External changes of `value` are written into the editor, and edits are reported by `onChange`.
 */
export function useEditor(props: Edited, make: () => Extension) {
  const { label, value, readOnly } = props;
  const parent = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(null);
  const current = useRef(props);
  current.current = props;
  const more = useRef(make);
  more.current = make;

  useEffect(() => {
    if (!parent.current) return;
    const view = new EditorView({
      doc: current.current.value,
      parent: parent.current,
      extensions: [
        editorTheme(label),
        history(),
        locked.of([]),
        more.current(),
        // Tab moves to the next field, as elsewhere on the page.
        keymap.of([submits, ...completionKeymap, ...defaultKeymap, ...historyKeymap]),
        EditorView.updateListener.of(({ docChanged, transactions, state }) => {
          // Skip external changes. Comparing texts would not work: an edit may restore a text before the component has
          // rendered the one in between.
          if (!docChanged || transactions.some((one) => one.annotation(fromOutside))) return;
          current.current.onChange(state.doc.toString());
        }),
      ],
    });
    editor.current = view;
    return () => view.destroy();
  }, [label]);
  useEffect(() => {
    const view = editor.current;
    // An external change, such as a discarded draft.
    if (!view || view.state.doc.toString() === value) return;
    view.dispatch({
      changes: { from: 0, to: view.state.doc.length, insert: value },
      annotations: fromOutside.of(true),
    });
  }, [value]);
  useEffect(() => {
    const lock = [EditorState.readOnly.of(readOnly), EditorView.editable.of(!readOnly)];
    // Scrollable content must be reachable by keyboard.
    const reach = readOnly ? EditorView.contentAttributes.of({ tabindex: '0' }) : [];
    editor.current?.dispatch({ effects: locked.reconfigure([lock, reach]) });
  }, [readOnly]);
  return { parent, editor };
}

/** The form around the editor takes this key. By default, it inserts a line. */
const submits = { key: 'Mod-Enter', run: () => true };

const locked = new Compartment();
const fromOutside = Annotation.define<true>();

/** Moves the cursor to `target`; a new object triggers it again. */
export function useCursorTarget<CursorTarget>(
  editor: RefObject<EditorView | null>,
  target: CursorTarget | null,
  positionOf: (target: CursorTarget, view: EditorView) => number,
) {
  const position = useRef(positionOf);
  position.current = positionOf;
  useEffect(() => {
    const view = editor.current;
    if (!target || !view) return;
    view.dispatch({ selection: { anchor: position.current(target, view) }, scrollIntoView: true });
    view.focus();
  }, [target, editor]);
}
