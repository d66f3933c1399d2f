import { autocompletion, type CompletionContext, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { Compartment, EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { editorLook } from '../../parts/editor-look.ts';
import classes from './definition.module.css';
import { agentNames, definitionMarks, problemLines } from './definition-marks.ts';

export interface KnownAgent {
  readonly agentId: string;
  readonly agentName: string;
}

/** Where to go to; another object each time it is asked for. */
export interface Aim {
  readonly line: number;
}

/** The text of a definition: problems marked at their lines, agents named beside their identifiers and completed. */
export default function DefinitionTextEditor(props: {
  readonly value: string;
  readonly readOnly: boolean;
  readonly agents: readonly KnownAgent[];
  readonly problems: readonly { readonly line: number; readonly message: string }[];
  readonly aim: Aim | null;
  readonly onChange: (value: string) => void;
}) {
  const { value, readOnly, agents, problems, aim } = props;
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
        editorLook('Definition'),
        lineNumbers(),
        history(),
        definitionMarks,
        compartments.agents.of([]),
        compartments.problems.of([]),
        compartments.lock.of([]),
        autocompletion({
          override: [(context) => complete(context, current.current.agents)],
          icons: false,
        }),
        // Tab is left to the page: it leads on to the next field.
        keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
        EditorView.updateListener.of(({ docChanged, state }) => {
          const typed = state.doc.toString();
          // What was put in from outside is known there already.
          if (docChanged && typed !== current.current.value) current.current.onChange(typed);
        }),
      ],
    });
    editor.current = view;
    return () => view.destroy();
  }, []);

  useEffect(() => {
    const view = editor.current;
    // Discarded or begun anew, not typed.
    if (!view || view.state.doc.toString() === value) return;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value } });
  }, [value]);
  useEffect(() => {
    const lock = [EditorState.readOnly.of(readOnly), EditorView.editable.of(!readOnly)];
    // It scrolls, so the keyboard must reach it.
    const reach = readOnly ? EditorView.contentAttributes.of({ tabindex: '0' }) : [];
    editor.current?.dispatch({ effects: compartments.lock.reconfigure([lock, reach]) });
  }, [readOnly]);
  useEffect(() => {
    const names = new Map(agents.map(({ agentId, agentName }) => [agentId, agentName]));
    editor.current?.dispatch({ effects: compartments.agents.reconfigure(agentNames(names)) });
  }, [agents]);
  useEffect(() => {
    editor.current?.dispatch({
      effects: compartments.problems.reconfigure(problemLines(problems)),
    });
  }, [problems]);
  useEffect(() => {
    const view = editor.current;
    if (!aim || !view) return;
    const { from } = view.state.doc.line(Math.min(aim.line, view.state.doc.lines));
    view.dispatch({ selection: { anchor: from }, scrollIntoView: true });
    view.focus();
  }, [aim]);
  return <div ref={parent} className={classes.editor} />;
}

const compartments = {
  agents: new Compartment(),
  problems: new Compartment(),
  lock: new Compartment(),
};

function complete(context: CompletionContext, agents: readonly KnownAgent[]) {
  const begun = context.matchBefore(/agentId"?:[ \t]*"?[\w ]*$/);
  if (!begun) return null;
  const from = begun.from + (/^agentId"?:[ \t]*"?/.exec(begun.text)?.[0].length ?? 0);
  const before = begun.text.endsWith(':') ? ' ' : '';
  const options = agents.map(({ agentId, agentName }) => ({
    label: agentName,
    apply: before + agentId,
  }));
  return { from, options, validFor: /^[\w ]*$/ };
}
