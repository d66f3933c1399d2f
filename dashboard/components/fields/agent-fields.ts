import type { AgentForm } from '../../data/agents/agent-form.ts';

/** The props of a group of fields of an agent's form. */
export interface AgentFields {
  readonly form: AgentForm;
  readonly onChange: (change: Partial<AgentForm>) => void;
  readonly error: unknown;
  readonly disabled?: boolean;
}
