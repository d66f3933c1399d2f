import { autocompletion, type CompletionContext } from '@codemirror/autocomplete';
import { Compartment } from '@codemirror/state';
import { lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { useCursorTarget, useEditor } from '../../components/editor/use-editor.ts';
import classes from './definition.module.css';
import { agentNames, definitionHighlighting, problemLines } from './definition-highlighting.ts';

export interface KnownAgent {
  readonly agentId: string;
  readonly agentName: string;
}

/** A line to jump to; a new object for each jump. */
export interface CursorTarget {
  readonly line: number;
}

/** The definition's text editor, with marked problem lines, agent names and completion of agent ids. */
export default function DefinitionTextEditor(props: {
  readonly value: string;
  readonly readOnly: boolean;
  readonly agents: readonly KnownAgent[];
  readonly problems: readonly { readonly line: number; readonly message: string }[];
  readonly target: CursorTarget | null;
  readonly onChange: (value: string) => void;
}) {
  const { agents, problems } = props;
  const known = useRef(agents);
  known.current = agents;
  const { parent, editor } = useEditor({ ...props, label: 'Definition' }, () => [
    lineNumbers(),
    definitionHighlighting,
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
  useCursorTarget(
    editor,
    props.target,
    ({ line }, { state }) => state.doc.line(Math.min(line, state.doc.lines)).from,
  );
  return <div ref={parent} className={classes.editor} />;
}

const compartments = {
  agents: new Compartment(),
  problems: new Compartment(),
};

function complete(context: CompletionContext, agents: readonly KnownAgent[]) {
  const match = context.matchBefore(/agentId"?:[ \t]*"?[\w ]*$/);
  if (!match) return null;
  const from = match.from + (/^agentId"?:[ \t]*"?/.exec(match.text)?.[0].length ?? 0);
  const before = match.text.endsWith(':') ? ' ' : '';
  const options = agents.map(({ agentId, agentName }) => ({
    label: agentName,
    apply: before + agentId,
  }));
  return { from, options, validFor: /^[\w ]*$/ };
}
