/**
 * Preloaded by a process whose wall clock is to be wrong by `CUELINE_CLOCK_OFFSET_MS`. The monotonic clock stays right,
 * as on a machine whose clock was set wrong.
 */

const offsetMs = Number(process.env.CUELINE_CLOCK_OFFSET_MS);
delete process.env.CUELINE_CLOCK_OFFSET_MS;
const Right = Date;
const nowMs = () => Right.now() + offsetMs;

globalThis.Date = new Proxy(Right, {
  apply: () => new Right(nowMs()).toString(),
  construct: (_target, given, made) =>
    Reflect.construct(Right, given.length === 0 ? [nowMs()] : given, made),
  get: (target, name) => (name === 'now' ? nowMs : Reflect.get(target, name)),
});
