import { completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { Annotation, Compartment, EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { type RefObject, useEffect, useRef } from 'react';
import { editorLook } from './editor-theme.ts';

interface Edited {
  readonly label: string;
  readonly value: string;
  readonly readOnly: boolean;
  readonly onChange: (value: string) => void;
}

/**
 * An editor in the element of `parent`, which is made once: `make` says what it has besides, and what is asked there
 * later must be asked through refs. What is given from outside is put in, what is typed is told.
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
        editorLook(label),
        history(),
        locked.of([]),
        more.current(),
        // Tab is left to the page: it leads on to the next field.
        keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
        EditorView.updateListener.of(({ docChanged, transactions, state }) => {
          // What was put in from outside is known there already. Not told by the text: what was shown last may be there
          // again before it was shown otherwise.
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
    // Discarded or begun anew, not typed.
    if (!view || view.state.doc.toString() === value) return;
    view.dispatch({
      changes: { from: 0, to: view.state.doc.length, insert: value },
      annotations: fromOutside.of(true),
    });
  }, [value]);
  useEffect(() => {
    const lock = [EditorState.readOnly.of(readOnly), EditorView.editable.of(!readOnly)];
    // It scrolls, so the keyboard must reach it.
    const reach = readOnly ? EditorView.contentAttributes.of({ tabindex: '0' }) : [];
    editor.current?.dispatch({ effects: locked.reconfigure([lock, reach]) });
  }, [readOnly]);
  return { parent, editor };
}

const locked = new Compartment();
const fromOutside = Annotation.define<true>();

/** Puts the cursor where someone asked to go: another object each time. */
export function useAim<Aim>(
  editor: RefObject<EditorView | null>,
  aim: Aim | null,
  placeOf: (aim: Aim, view: EditorView) => number,
) {
  const place = useRef(placeOf);
  place.current = placeOf;
  useEffect(() => {
    const view = editor.current;
    if (!aim || !view) return;
    view.dispatch({ selection: { anchor: place.current(aim, view) }, scrollIntoView: true });
    view.focus();
  }, [aim, editor]);
}
