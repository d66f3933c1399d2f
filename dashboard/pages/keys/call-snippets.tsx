import type { Agent } from '../../../src/client/index.ts';
import { Snippets } from '../../components/code-snippets.tsx';
import { agentFields } from '../../data/agents/value-fields.ts';
import { curlOf, keyVariable, pythonOf, typeScriptOf } from '../../data/text/call-snippets.ts';
import { own } from '../../data/text/own-property.ts';
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
