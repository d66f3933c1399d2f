import { autocompletion, type CompletionContext } from '@codemirror/autocomplete';
import { Compartment } from '@codemirror/state';
import { lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { useAim, useEditor } from '../../components/editor/use-editor.ts';
import classes from './definition.module.css';
import { agentNames, definitionMarks, problemLines } from './definition-highlighting.ts';

export interface KnownAgent {
  readonly agentId: string;
  readonly agentName: string;
}

/** A line to jump to; a new object for each jump. */
export interface Aim {
  readonly line: number;
}

/** The definition's text editor, with marked problem lines, agent names and completion of agent ids. */
export default function DefinitionTextEditor(props: {
  readonly value: string;
  readonly readOnly: boolean;
  readonly agents: readonly KnownAgent[];
  readonly problems: readonly { readonly line: number; readonly message: string }[];
  readonly aim: Aim | null;
  readonly onChange: (value: string) => void;
}) {
  const { agents, problems } = props;
  const known = useRef(agents);
  known.current = agents;
  const { parent, editor } = useEditor({ ...props, label: 'Definition' }, () => [
    lineNumbers(),
    definitionMarks,
    compartments.agents.of([]),
    compartments.problems.of([]),
    autocompletion({ override: [(context) => complete(context, known.current)], icons: false }),
  ]);
  useEffect(() => {
    const names = new Map(agents.map(({ agentId, agentName }) => [agentId, agentName]));
    editor.current?.dispatch({ effects: compartments.agents.reconfigure(agentNames(names)) });
  }, [agents, editor]);
  useEffect(() => {
    editor.current?.dispatch({
      effects: compartments.problems.reconfigure(problemLines(problems)),
    });
  }, [problems, editor]);
  useAim(
    editor,
    props.aim,
    ({ line }, { state }) => state.doc.line(Math.min(line, state.doc.lines)).from,
  );
  return <div ref={parent} className={classes.editor} />;
}

const compartments = {
  agents: new Compartment(),
  problems: new Compartment(),
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
