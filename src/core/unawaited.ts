/**
 * The result of a caller's function that is not waited for: a promise, which it should not have given, must not end
 * the process when it rejects.
 */
export function unawaited<T>(answer: T): T {
  if (typeof answer === 'object' && answer !== null && 'then' in answer) void Promise.resolve(answer).catch(() => {});
  return answer;
}
