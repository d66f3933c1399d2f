import { useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import type { Agent } from '../../../../src/client/index.ts';
import { agentsNamedQuery } from '../../../data/workflows/agents-by-name.ts';
import {
  type DefinitionEdit,
  type DefinitionPath,
  setValue,
  setValues,
} from '../../../data/workflows/definition-edit.ts';
import { unknownAgentId } from '../../../data/workflows/named-agents.ts';
import { inputNames } from '../../../data/workflows/references.ts';
import { AgentSelect } from './agent-select.tsx';

/** The fields of a step or a fallback of any shape. */
export type Fields = Readonly<Record<string, unknown>>;

/** A step of the definition that is being edited, of any shape. */
export interface EditedStep {
  readonly definition: unknown;
  /** With the ids of agents. */
  readonly resolved: unknown;
  readonly index: number;
  readonly onEdit: (edit: DefinitionEdit) => void;
}

/** The agent of a step or of its fallback. Written by name if the name identifies it. */
export function StepAgent(props: {
  readonly label?: string;
  readonly definition: unknown;
  readonly step: Fields;
  readonly resolved: Fields;
  readonly at: DefinitionPath;
  readonly onEdit: (edit: DefinitionEdit) => void;
}) {
  const { label = 'Agent', definition, step, resolved, at } = props;
  const queries = useQueryClient();
  const latest = useRef(props.onEdit);
  latest.current = props.onEdit;
  const select = async ({ agentId, agentName, requiredVariables }: Agent) => {
    const ids = await queries.fetchQuery(agentsNamedQuery(agentName)).catch(() => []);
    const named = ids.length === 1 && ids[0] === agentId;
    latest.current((document) => {
      const agent = named
        ? { agentId: undefined, agent: agentName }
        : { agent: undefined, agentId };
      setValues(at, agent)(document);
      // Inputs of the same name are what most steps pass on.
      for (const name of requiredVariables) {
        const path = [...at, 'variables', name];
        if (!inputNames(definition).includes(name) || document.hasIn(path)) continue;
        setValue(path, `{{input.${name}}}`)(document);
      }
    });
  };
  const unknown = typeof step.agent === 'string' ? step.agent : undefined;
  const agentId = agentIdOf(resolved);
  return (
    <AgentSelect
      label={label}
      agentId={agentId}
      placeholder={unknown}
      error={
        unknown !== undefined && agentId === null ? `There is no agent "${unknown}".` : undefined
      }
      onSelect={(agent) => void select(agent)}
    />
  );
}

/** Null if there is none, or its name is unknown. */
export function agentIdOf(resolved: Fields | undefined): string | null {
  const { agentId } = resolved ?? {};
  return typeof agentId === 'string' && agentId !== unknownAgentId ? agentId : null;
}
