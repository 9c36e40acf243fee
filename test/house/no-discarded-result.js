/** Reports a statement whose value, awaited or not, is a neverthrow result that nobody looks at. */

// The shapes of `Result` and `ResultAsync`, by members: their classes may come from several copies of neverthrow.
const shapes = [
  ['isOk', 'andThen', 'unwrapOr'],
  ['andThen', 'mapErr', 'unwrapOr'],
];

const isResult = (type) =>
  type.isUnion()
    ? type.types.some(isResult)
    : shapes.some((members) => members.every((member) => type.getProperty(member) !== undefined));

export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: { discarded: 'This result is discarded: return it, narrow it, unwrap it, or say `void`.' },
  },
  create(context) {
    const services = context.sourceCode.parserServices;
    return {
      ExpressionStatement(node) {
        const { expression } = node;
        if (expression.type === 'YieldExpression' || expression.type === 'AssignmentExpression') return;
        if (expression.type === 'UnaryExpression' && expression.operator === 'void') return;
        if (isResult(services.getTypeAtLocation(expression))) context.report({ node, messageId: 'discarded' });
      },
    };
  },
};
