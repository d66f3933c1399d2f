import { CodeBlock } from '../../../components/code/code-block.tsx';
import type { ExecutionDetail } from '../../../data/executions/executions.ts';
import { contentText, imagesOf } from '../../../data/executions/sent-files.ts';
import classes from './record.module.css';

/** The two prompts of the short form, or all messages, and the images among them. */
export function SentMessages({ execution }: { readonly execution: ExecutionDetail }) {
  const { messages = [], systemPrompt, userPrompt } = execution;
  const texts = [systemPrompt, userPrompt].filter((text) => text !== undefined && text !== '');
  const isShort =
    messages.length <= texts.length &&
    messages.every(({ role, content }) => role !== 'assistant' && typeof content === 'string');
  if (!isShort) {
    return (
      <>
        {messages.map(({ role, content, toolCalls }, index) => {
          const text = contentText(content);
          return (
            <CodeBlock
              key={index}
              label={`Message ${index + 1}: ${role}`}
              code={toolCalls ? `${text}${JSON.stringify(toolCalls, null, 2)}` : text}
            />
          );
        })}
        <SentImages execution={execution} />
      </>
    );
  }
  return (
    <>
      {systemPrompt !== undefined && (
        <CodeBlock label="Rendered system prompt" code={systemPrompt} />
      )}
      {userPrompt !== undefined && <CodeBlock label="Rendered user prompt" code={userPrompt} />}
    </>
  );
}

function SentImages({ execution }: { readonly execution: ExecutionDetail }) {
  const images = imagesOf(execution);
  if (images.length === 0) return null;
  return (
    <ul className={classes.images} aria-label="Images">
      {images.map(({ variable, url }) => (
        <li key={variable}>
          <img src={url} alt={`Contents of ${variable}`} />
          <code>{variable}</code>
        </li>
      ))}
    </ul>
  );
}
