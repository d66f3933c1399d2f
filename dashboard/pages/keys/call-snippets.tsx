import type { Agent } from '../../../src/client/index.ts';
import { Snippets } from '../../components/code-snippets.tsx';
import { agentFields } from '../../data/agents/value-fields.ts';
import { curlOf, keyVariable, pythonOf, typeScriptOf } from '../../data/text/call-snippets.ts';
import { own } from '../../data/text/own-property.ts';
import classes from './keys.module.css';

/** Runnable code with this agent's variables. */
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
        The code reads the key from the environment variable <code>{keyVariable}</code>. The call
        returns immediately; poll its <code>statusUrl</code> for the result.
      </p>
    </Snippets>
  );
}

/** Example values for all declared variables: the default or a placeholder text. */
function sampleOf(agent: Agent): Record<string, unknown> {
  return Object.fromEntries(
    agentFields(agent).map(({ name }) => [
      name,
      own(agent.defaultVariableValues, name) ?? `your ${name}`,
    ]),
  );
}
