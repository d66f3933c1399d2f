import { type Template, templates } from '../../data/workflows/templates.ts';
import classes from './workflows.module.css';

/** What a new workflow starts from: one step, or a documented example. */
export function TemplateChoice(props: {
  /** Null for the workflow of one step. */
  readonly chosen: Template | null;
  readonly onChoose: (template: Template | null) => void;
}) {
  const choices = [null, ...templates];
  return (
    <section aria-label="Start from" className={classes.templates}>
      {choices.map((template) => (
        <button
          key={template?.title ?? 'blank'}
          type="button"
          className={classes.template}
          aria-pressed={template === props.chosen}
          onClick={() => props.onChoose(template)}
        >
          <strong>{template?.title ?? 'One step'}</strong>
          <span>{template?.about ?? 'Executes one agent with the input.'}</span>
        </button>
      ))}
    </section>
  );
}
