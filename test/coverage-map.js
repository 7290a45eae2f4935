// For tap: the files whose coverage a test file measures. It takes time; these folders need not: the others cover lib.
const UNMEASURED = /^compiled\/\w+\/(?:browser|checks|examples|interleavings|package)[./]/

export default (file) => UNMEASURED.test(file) ? null : ['compiled/lib/**/!(typebox).js']
