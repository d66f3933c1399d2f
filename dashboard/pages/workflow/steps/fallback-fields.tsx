import { NativeSelect } from '@mantine/core';
import { useRef } from 'react';
import { type DefinitionPath, setValue } from '../../../data/workflows/definition-edit.ts';
import { stepsOf } from '../../../data/workflows/workflow-graph.ts';
import { agentIdOf, type EditedStep, type Fields, StepAgent } from './step-agent.tsx';
import { ValueField, VariablesFields } from './step-values.tsx';

/** What replaces a failed call: nothing, another agent, or a fixed output. */
export function FallbackFields(
  props: EditedStep & {
    readonly at: DefinitionPath;
    readonly references: readonly string[];
  },
) {
  const { definition, resolved, index, at, references, onEdit } = props;
  const fallback = fallbackOf(definition, index);
  const resolvedFallback = fallbackOf(resolved, index) ?? {};
  const kind = !fallback ? 'none' : Object.hasOwn(fallback, 'output') ? 'output' : 'agent';
  // What each kind had last, until the form closes.
  const last = useRef<Record<typeof kind, unknown>>({
    none: undefined,
    agent: {},
    output: { output: '' },
  });
  const choose = (to: typeof kind) => {
    if (fallback) last.current[kind] = fallback;
    onEdit(setValue(at, last.current[to]));
  };
  return (
    <>
      <NativeSelect
        label="Fallback"
        data={[
          { value: 'none', label: 'None' },
          { value: 'agent', label: 'Another agent' },
          { value: 'output', label: 'A fixed output' },
        ]}
        value={kind}
        onChange={({ currentTarget }) => choose(currentTarget.value as typeof kind)}
      />
      {fallback && kind === 'agent' && (
        <>
          <StepAgent
            label="Agent of the fallback"
            definition={definition}
            step={fallback}
            resolved={resolvedFallback}
            at={at}
            onEdit={onEdit}
          />
          <VariablesFields
            agentId={agentIdOf(resolvedFallback)}
            path={[...at, 'variables']}
            values={fallback.variables}
            references={references}
            onEdit={onEdit}
          />
        </>
      )}
      {fallback && kind === 'output' && (
        <ValueField
          label="Fixed output"
          value={fallback.output}
          references={references}
          onChange={(output) => onEdit(setValue([...at, 'output'], output ?? ''))}
        />
      )}
    </>
  );
}

function fallbackOf(definition: unknown, index: number): Fields | null {
  const fallback = stepsOf(definition)[index]?.fallback;
  return typeof fallback === 'object' && fallback !== null ? (fallback as Fields) : null;
}
