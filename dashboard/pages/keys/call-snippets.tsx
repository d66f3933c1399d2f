import type { Agent } from '../../../src/client/index.ts';
import { curlOf, keyVariable, pythonOf, typeScriptOf } from '../../data/call-snippets.ts';
import { own } from '../../data/own.ts';
import { agentFields } from '../../data/value-fields.ts';
import { Snippets } from '../../parts/snippets.tsx';
import classes from './keys.module.css';

/** Code that runs as it is pasted, with this agent's own variables. */
export function CallSnippets({ agent }: { readonly agent: Agent }) {
  const call = [agent.agentId, sampleOf(agent), location.origin] as const;
  return (
    <Snippets
      languages={[
        { label: 'curl', code: curlOf(...call) },
        { label: 'TypeScript', code: typeScriptOf(...call) },
        { label: 'Python', code: pythonOf(...call) },
      ]}
    >
      <p className={classes.none}>
        The key is read from the environment variable <code>{keyVariable}</code>. The call is
        answered at once; the outcome follows at its <code>statusUrl</code>.
      </p>
    </Snippets>
  );
}

/** Every variable the agent declares: its default where it has one, else what to put there. */
function sampleOf(agent: Agent): Record<string, unknown> {
  return Object.fromEntries(
    agentFields(agent).map(({ name }) => [
      name,
      own(agent.defaultVariableValues, name) ?? `your ${name}`,
    ]),
  );
}
