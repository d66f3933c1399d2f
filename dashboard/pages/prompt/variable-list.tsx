import type { Variable, VariableOccurrence } from '../../data/prompts/templates.ts';
import classes from './editor.module.css';

/** The draft's variables and where they occur. */
export function VariableList(props: {
  readonly variables: readonly Variable[];
  readonly onGoTo: (occurrence: VariableOccurrence) => void;
}) {
  if (props.variables.length === 0) {
    return (
      <p className="note">
        No variables yet. Write <code>{'{{name}}'}</code> where each call should insert a value.
      </p>
    );
  }
  return (
    <ul className={classes.variables}>
      {props.variables.map(({ name, occurrences }) => (
        <li key={name}>
          <code>{name}</code>
          <span className={classes.occurrences}>
            {occurrences.slice(0, shownMax).map((occurrence) => (
              <button
                key={`${occurrence.template} ${occurrence.offset}`}
                type="button"
                aria-label={`${occurrence.template}, line ${occurrence.line}: go to ${name}`}
                onClick={() => props.onGoTo(occurrence)}
              >
                {occurrence.template}, line {occurrence.line}
              </button>
            ))}
            {occurrences.length > shownMax && <span>and {occurrences.length - shownMax} more</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}

const shownMax = 6;
