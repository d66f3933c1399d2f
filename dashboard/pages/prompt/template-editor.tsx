import { autocompletion, type CompletionContext, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { Compartment, EditorState } from '@codemirror/state';
import { EditorView, keymap, placeholder } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { editorLook } from '../../parts/editor-look.ts';
import classes from './editor.module.css';

/** Where to go to in a template; another object each time it is asked for. */
export interface Aim {
  readonly offset: number;
}

/** One template, with its variables marked, and their names completed after `{{`. */
export default function TemplateEditor(props: {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  /** The names that are completed. */
  readonly names: readonly string[];
  readonly readOnly: boolean;
  readonly aim: Aim | null;
  readonly onChange: (value: string) => void;
}) {
  const { label, hint, value, readOnly, aim } = props;
  const parent = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(null);
  const current = useRef(props);
  current.current = props;

  // The editor is made once, and asks for what holds now.
  useEffect(() => {
    if (!parent.current) return;
    const view = new EditorView({
      doc: current.current.value,
      parent: parent.current,
      extensions: [
        editorLook(label),
        history(),
        placeholder(hint),
        autocompletion({
          override: [(context) => complete(context, current.current.names)],
          icons: false,
        }),
        // Tab is left to the page: it leads on to the next field.
        keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
        locked.of(lock(readOnly)),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) current.current.onChange(state.doc.toString());
        }),
      ],
    });
    editor.current = view;
    return () => view.destroy();
  }, [label, hint]);

  useEffect(() => {
    const view = editor.current;
    // Discarded or begun anew, not typed.
    if (!view || view.state.doc.toString() === value) return;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value } });
  }, [value]);
  useEffect(() => {
    editor.current?.dispatch({ effects: locked.reconfigure(lock(readOnly)) });
  }, [readOnly]);
  useEffect(() => {
    const view = editor.current;
    if (!aim || !view) return;
    const anchor = Math.min(aim.offset, view.state.doc.length);
    view.dispatch({ selection: { anchor }, scrollIntoView: true });
    view.focus();
  }, [aim]);
  return <div ref={parent} className={classes.editor} />;
}

const locked = new Compartment();
const lock = (readOnly: boolean) => [
  EditorState.readOnly.of(readOnly),
  EditorView.editable.of(!readOnly),
];

function complete(context: CompletionContext, names: readonly string[]) {
  const begun = context.matchBefore(/\{\{[ \t]*[A-Za-z0-9_]*$/);
  if (!begun) return null;
  const from = begun.from + (/^\{\{[ \t]*/.exec(begun.text)?.[0].length ?? 0);
  const closed = /^[ \t]*\}\}/.test(context.state.sliceDoc(context.pos, context.pos + 10));
  const options = names.map((name) => ({ label: name, apply: closed ? name : `${name}}}` }));
  return { from, options, validFor: /^[A-Za-z0-9_]*$/ };
}
