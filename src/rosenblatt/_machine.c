/* How Python reaches kernels, and how single rows reach them without Python.

A kernel is machine code that takes the address of a frame of 64-bit words. There stand the words of
its arguments: a number is one word; an array the address of its first element, its shape and its
strides; a tuple its fields; None nothing. It overwrites the first words with its result and returns
DONE. Plain Python defines what is done here: kernels/compiling/calling.py and single_rows.py.

    call(codes, arguments)          run the code for the types of the arguments, or NotImplemented
    bind(codes, arguments, place)   the same as something to run, with another number at that place
    run(bound, number)
    flatten(arguments)              the key of the types, by which codes have a code, and the words
    row(data, indices, indptr)      room for a sparse row
    remember(row, numbers, complete)
    fill_row(row, numbers, features)
    learn_row(enter, pass, leave, count[, row, numbers, features])
    decide_row(predict, count[, row, numbers, features])
    kernel(symbol, level)           address and result form of a kernel that is linked in, or None
    level()                         of x86-64 that this processor has; 0: ask elsewhere

A wheel links kernels in, for some levels of its processor. Its build defines HAS_KERNELS and makes
kernel_table.h, with at most MOST_LEVELS levels and with kernels sorted by symbol:

    extern word kernel_0123_v3(word *), kernel_0123_v2(word *), …;
    static const char table_sources[] = "digest of the Python files that were compiled";
    static const char *const table_levels[] = {"x86-64-v3", "x86-64-v2"};
    static const struct kernel table[] = {
        {"kernel_0123", "form of the result", {kernel_0123_v3, kernel_0123_v2}}, …
    };

SOURCE_DIGEST is the SHA-256 of this file; a checkout sees by it whether the module is stale. */

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef SOURCE_DIGEST
#define SOURCE_DIGEST ""
#endif

typedef int64_t word;
typedef word (*kernel_code)(word *frame);

enum { MOST_WORDS = 256, LONGEST_KEY = 192, MOST_DIMENSIONS = 4, RESULT_WORDS = 4, DONE = 1 };
enum { ADDRESS, KINDS, MAKE, NAME }; /* the fields of a code, see calling.py */

static PyTypeObject *array_type, *float64_type, *int64_type, *uint64_type; /* of NumPy */
static PyObject *dtype_name;

static PyObject *unless_error(PyObject *value) {
    return PyErr_Occurred() ? NULL : Py_BuildValue("O", value);
}

static int takes(Py_ssize_t n, Py_ssize_t given) {
    if (n != given)
        PyErr_Format(PyExc_TypeError, "Expected %zd arguments; got %zd.", n, given);
    return n == given;
}

/* Arguments to words. What puts something returns whether it has a form. */

struct frame {
    word words[MOST_WORDS], key[LONGEST_KEY];
    int n_words, n_key;
};

static int put_array(struct frame *frame, PyObject *array) {
    Py_buffer view;
    if (PyObject_GetBuffer(array, &view, PyBUF_STRIDES) < 0) {
        PyErr_Clear(); /* signature_of says what is wrong with it */
        return 0;
    }
    PyObject *dtype = PyObject_GetAttr(array, dtype_name);
    int n = view.ndim, fits = dtype != NULL && n <= MOST_DIMENSIONS && view.itemsize > 0;
    if (fits) {
        word *words = frame->words + frame->n_words, *key = frame->key + frame->n_key, spread;
        words[0] = spread = (word)(intptr_t)view.buf;
        for (int k = 0; k < n; k++) {
            words[1 + k] = view.shape[k];
            words[1 + n + k] = view.strides[k];
            spread |= view.shape[k] > 1 ? view.strides[k] : 0;
        }
        int by_rows = PyBuffer_IsContiguous(&view, 'C');
        int by_columns = PyBuffer_IsContiguous(&view, 'F');
        int aligned = view.len == 0 || spread % view.itemsize == 0;
        key[0] = (word)(intptr_t)dtype; /* the code keeps it alive, and the type */
        key[1] = n | by_rows << 8 | by_columns << 9 | aligned << 10 | !view.readonly << 11;
        frame->n_words += 1 + 2 * n;
        frame->n_key += 2;
    }
    Py_XDECREF(dtype);
    PyBuffer_Release(&view);
    return fits;
}

static int put_number(struct frame *frame, PyObject *value, PyTypeObject *type) {
    word *place = frame->words + frame->n_words++;
    if (type == &PyFloat_Type || type == float64_type) {
        double number = PyFloat_AsDouble(value);
        memcpy(place, &number, sizeof number);
        return 1;
    }
    if (type == &PyLong_Type || type == &PyBool_Type) {
        *place = PyLong_AsLongLong(value);
        return *place != -1 || !PyErr_Occurred();
    }
    if (type != int64_type && type != uint64_type)
        return 0;
    PyObject *whole = PyNumber_Index(value);
    *place = whole == NULL ? 0 : (word)PyLong_AsUnsignedLongLongMask(whole);
    Py_XDECREF(whole);
    return whole != NULL;
}

static int put_tuple(struct frame *frame, PyObject *values) {
    Py_ssize_t n = PyTuple_Size(values);
    int fits = n >= 0;
    for (Py_ssize_t k = 0; k < n && fits; k++) {
        PyObject *value = PyTuple_GetItem(values, k);
        PyTypeObject *type = Py_TYPE(value);
        if (frame->n_words > MOST_WORDS - 2 - 2 * MOST_DIMENSIONS || frame->n_key > LONGEST_KEY - 3)
            return 0;
        frame->key[frame->n_key++] = (word)(intptr_t)type;
        if (type == array_type)
            fits = put_array(frame, value);
        else if (PyTuple_Check(value)) {
            frame->key[frame->n_key++] = PyTuple_Size(value);
            fits = put_tuple(frame, value);
        } else if (value != Py_None)
            fits = put_number(frame, value, type);
    }
    return fits;
}

static PyObject *flatten(PyObject *module, PyObject *arguments) {
    struct frame frame = {.n_words = 0};
    if (!put_tuple(&frame, arguments))
        return unless_error(Py_None);
    return Py_BuildValue("y#y#", (char *)frame.key, (Py_ssize_t)sizeof(word) * frame.n_key,
                         (char *)frame.words, (Py_ssize_t)sizeof(word) * frame.n_words);
}

/* Fills a frame and returns the kernel for it, and its code, borrowed; NULL where there is none. */
static kernel_code kernel_for(PyObject *codes, PyObject *arguments, struct frame *frame,
                              PyObject **code) {
    frame->n_words = frame->n_key = 0;
    if (!put_tuple(frame, arguments))
        return NULL;
    PyObject *key = PyBytes_FromStringAndSize((char *)frame->key, sizeof(word) * frame->n_key);
    *code = key == NULL ? NULL : PyDict_GetItemWithError(codes, key);
    Py_XDECREF(key);
    PyObject *address = *code == NULL ? NULL : PyTuple_GetItem(*code, ADDRESS);
    return address == NULL ? NULL : (kernel_code)PyLong_AsVoidPtr(address);
}

/* Words to results. */

static PyObject *number_of(char kind, word bits) {
    double number;
    switch (kind) {
    case 'q': return PyLong_FromLongLong(bits);
    case 'Q': return PyLong_FromUnsignedLongLong((uint64_t)bits);
    case '?': return PyBool_FromLong(bits & 1);
    default:
        memcpy(&number, &bits, sizeof number);
        return PyFloat_FromDouble(number);
    }
}

static PyObject *result_of(PyObject *code, word answer, const word *words) {
    char *kinds;
    Py_ssize_t n;
    PyObject *make = PyTuple_GetItem(code, MAKE);
    if (answer != DONE)
        return PyErr_Format(PyExc_RuntimeError, "%S raised an exception, which no kernel may.",
                            PyTuple_GetItem(code, NAME));
    if (PyBytes_AsStringAndSize(PyTuple_GetItem(code, KINDS), &kinds, &n) < 0)
        return NULL;
    if (make == Py_None)
        return n == 0 ? unless_error(Py_None) : number_of(kinds[0], words[0]);
    PyObject *fields = PyTuple_New(n), *result = NULL;
    for (Py_ssize_t k = 0; fields != NULL && k < n; k++)
        PyTuple_SetItem(fields, k, number_of(kinds[k], words[k]));
    if (fields != NULL && !PyErr_Occurred())
        result = PyObject_CallFunctionObjArgs(make, fields, NULL);
    Py_XDECREF(fields);
    return result;
}

static PyObject *call(PyObject *module, PyObject *const *given, Py_ssize_t n) {
    struct frame frame;
    PyObject *code;
    kernel_code kernel = takes(2, n) ? kernel_for(given[0], given[1], &frame, &code) : NULL;
    if (kernel == NULL)
        return unless_error(Py_NotImplemented);
    Py_INCREF(code);
    PyThreadState *thread = PyEval_SaveThread();
    word answer = kernel(frame.words);
    PyEval_RestoreThread(thread);
    PyObject *result = result_of(code, answer, frame.words);
    Py_DECREF(code);
    return result;
}

/* Bound calls: arguments are flattened once, and one word changes. Other threads of Python wait, so
   arrays are replaced between two calls and never during one. */

#define BOUND "rosenblatt bound call"

struct bound {
    kernel_code kernel;
    PyObject *code, *arguments; /* kept alive */
    int place;                  /* of the word that changes */
    word head[RESULT_WORDS];    /* words that a result overwrites */
    word words[MOST_WORDS];
};

static void free_bound(PyObject *capsule) {
    struct bound *bound = PyCapsule_GetPointer(capsule, BOUND);
    Py_DECREF(bound->code);
    Py_DECREF(bound->arguments);
    free(bound);
}

static PyObject *bind(PyObject *module, PyObject *given) {
    PyObject *codes, *arguments, *place, *code;
    struct frame frame;
    if (!PyArg_ParseTuple(given, "OOO", &codes, &arguments, &place))
        return NULL;
    int n_before = MOST_WORDS - 1; /* where no argument stands */
    if (place != Py_None) {
        PyObject *before = PyTuple_GetSlice(arguments, 0, PyLong_AsSsize_t(place));
        frame.n_words = frame.n_key = 0;
        n_before = before != NULL && put_tuple(&frame, before) ? frame.n_words : 0;
        Py_XDECREF(before);
    }
    kernel_code kernel = PyErr_Occurred() ? NULL : kernel_for(codes, arguments, &frame, &code);
    if (kernel == NULL)
        return unless_error(Py_None);
    struct bound *bound = malloc(sizeof *bound);
    if (bound == NULL)
        return PyErr_NoMemory();
    *bound = (struct bound){kernel, code, arguments, n_before, {0}, {0}};
    memcpy(bound->words, frame.words, sizeof frame.words);
    memcpy(bound->head, frame.words, sizeof bound->head);
    Py_INCREF(code);
    Py_INCREF(arguments);
    return PyCapsule_New(bound, BOUND, free_bound);
}

/* Runs a bound call, copies its result and returns its code; NULL with an exception. */
static PyObject *run_bound(PyObject *capsule, word number, word *result) {
    struct bound *bound = PyCapsule_GetPointer(capsule, BOUND);
    if (bound == NULL)
        return NULL;
    bound->words[bound->place] = number;
    word answer = bound->kernel(bound->words);
    memcpy(result, bound->words, sizeof bound->head);
    memcpy(bound->words, bound->head, sizeof bound->head);
    return answer == DONE ? bound->code : result_of(bound->code, answer, result);
}

static PyObject *run(PyObject *module, PyObject *const *given, Py_ssize_t n) {
    word result[RESULT_WORDS];
    PyObject *code = takes(2, n) ? run_bound(given[0], PyLong_AsLongLong(given[1]), result) : NULL;
    return code == NULL || PyErr_Occurred() ? NULL : result_of(code, DONE, result);
}

/* Single rows. */

#define ROW "rosenblatt row"
#undef OVERFLOW /* of math.h, on macOS and Windows */
enum { RIGHT, MISTAKE, OVERFLOW = 3, UNUSUAL = -1, SHORT = 128 }; /* as in single_rows.py */

struct feature {
    PyObject *name;
    int32_t number, rank; /* the rank of the number among those of the row */
};

struct row {
    Py_buffer data, indices, indptr; /* of float64, int32 and int64 */
    Py_ssize_t room;
    PyObject *numbers;      /* that are remembered, by name; or NULL */
    int complete;           /* a name without a number counts for nothing in a decision */
    struct feature *before; /* those of the row before, by numbers that are remembered */
    Py_ssize_t ranked;      /* how many of them have a rank; 0 where they changed */
};

static void forget(struct row *row) {
    for (Py_ssize_t k = 0; row->before != NULL && k < row->room; k++)
        Py_CLEAR(row->before[k].name);
    Py_CLEAR(row->numbers);
    row->ranked = 0;
}

static void free_row(PyObject *capsule) {
    struct row *row = PyCapsule_GetPointer(capsule, ROW);
    forget(row);
    PyBuffer_Release(&row->data);
    PyBuffer_Release(&row->indices);
    PyBuffer_Release(&row->indptr);
    free(row->before);
    free(row);
}

static PyObject *new_row(PyObject *module, PyObject *given) {
    struct row *row = calloc(1, sizeof *row);
    PyObject *capsule = row == NULL ? PyErr_NoMemory() : PyCapsule_New(row, ROW, free_row);
    if (capsule == NULL)
        return NULL;
    if (PyArg_ParseTuple(given, "w*w*w*", &row->data, &row->indices, &row->indptr)) {
        row->room = row->data.len / 8;
        row->before = calloc(row->room + 1, sizeof *row->before);
        if (row->before == NULL)
            PyErr_NoMemory();
        else if (row->indices.len != row->room * 4 || row->indptr.len != 2 * 8)
            PyErr_SetString(PyExc_TypeError, "A row is float64, as many int32 and two int64.");
    }
    if (PyErr_Occurred())
        Py_CLEAR(capsule);
    return capsule;
}

static PyObject *remember(PyObject *module, PyObject *given) {
    PyObject *capsule, *numbers;
    int complete;
    if (!PyArg_ParseTuple(given, "OO!p", &capsule, &PyDict_Type, &numbers, &complete))
        return NULL;
    struct row *row = PyCapsule_GetPointer(capsule, ROW);
    if (row != NULL) {
        Py_INCREF(numbers);
        forget(row);
        row->numbers = numbers;
        row->complete = complete;
    }
    return unless_error(Py_None);
}

/* Of equal numbers, the first stands first. */
static void rank_features(struct row *row, Py_ssize_t n) {
    struct feature *all = row->before;
    for (Py_ssize_t i = 0; i < n; i++) {
        all[i].rank = 0;
        for (Py_ssize_t k = 0; k < n; k++)
            all[i].rank += all[k].number < all[i].number + (k < i);
    }
    row->ranked = n;
}

/* Writes a number of a plain type; returns whether it is one. */
static int put_value(PyObject *value, double *place) {
    PyTypeObject *type = Py_TYPE(value);
    if (type == &PyFloat_Type || type == float64_type) {
        *place = PyFloat_AsDouble(value);
        return 1;
    }
    if (type != &PyLong_Type && type != &PyBool_Type)
        return 0;
    word whole = PyLong_AsLongLong(value);
    *place = (double)whole;
    if (whole != -1 || !PyErr_Occurred())
        return 1;
    PyErr_Clear(); /* more than 64 bits */
    return 0;
}

/* Writes the features of a dict to a row; returns whether all fitted.

Names are exact texts or whole numbers, so that looking one up runs no other code. By numbers that
the row remembers, a name that is the very object of the row before, at the same place, is not
looked up; and where a row has all names of the one before, they are put in order at once. A name
without a number is left out where that counts for nothing, if its value is a finite number. */
static int fill(struct row *row, PyObject *numbers, PyObject *features, int decides) {
    double *data = row->data.buf, ignored;
    int32_t *indices = row->indices.buf;
    PyObject *name, *value;
    Py_ssize_t position = 0, n = 0;
    int remembers = numbers == row->numbers, skips = decides && row->complete, changed = !remembers;
    int ranked = remembers && row->ranked > 0 && PyDict_Size(features) == row->ranked;
    while (PyDict_Next(features, &position, &name, &value)) {
        if (n == row->room)
            return 0;
        struct feature *before = row->before + n;
        Py_ssize_t target = ranked ? before->rank : n;
        int32_t number = before->number;
        if (!remembers || name != before->name) {
            changed = 1;
            row->ranked = 0;
            if (ranked) { /* once more, in the order of the dict */
                ranked = 0, n = 0, position = 0;
                continue;
            }
            if (Py_TYPE(name) != &PyUnicode_Type && Py_TYPE(name) != &PyLong_Type)
                return 0;
            PyObject *found = PyDict_GetItemWithError(numbers, name);
            if (found == NULL) {
                if (skips && put_value(value, &ignored) && isfinite(ignored))
                    continue;
                return 0;
            }
            number = (int32_t)PyLong_AsLongLong(found);
            if (remembers) {
                Py_INCREF(name);
                Py_XDECREF(before->name);
                *before = (struct feature){name, number, 0};
            }
        }
        indices[target] = number;
        if (!put_value(value, &data[target]))
            return 0;
        n++;
    }
    ((word *)row->indptr.buf)[1] = n;
    if (!changed && row->ranked == 0 && n <= SHORT)
        rank_features(row, n);
    return 1;
}

/* Fills a row by the arguments row, numbers and features, of which there are not too many. */
static int fill_by(PyObject *const *given, int decides, Py_ssize_t most) {
    struct row *row = PyCapsule_GetPointer(given[0], ROW);
    Py_ssize_t n = row == NULL ? -1 : PyDict_Size(given[2]);
    return n >= 0 && n <= most && fill(row, given[1], given[2], decides);
}

static PyObject *fill_row(PyObject *module, PyObject *const *given, Py_ssize_t n) {
    return unless_error(takes(3, n) && fill_by(given, 0, PY_SSIZE_T_MAX) ? Py_True : Py_False);
}

/* Enters a row, makes a pass over it and leaves it, as RowVisit.in_python. */
static word learn(PyObject *const *calls, word count) {
    word result[RESULT_WORDS] = {UNUSUAL};
    double loss;
    if (!run_bound(calls[0], 0, result) || result[0] != RIGHT)
        return result[0];
    if (!run_bound(calls[1], count, result))
        return UNUSUAL;
    word found = result[0] > 0 ? MISTAKE : RIGHT, updates = result[1];
    memcpy(&loss, &result[2], sizeof loss);
    if (updates == 0)
        return found;
    int finite = isfinite(loss) && run_bound(calls[2], 0, result) && result[0] == RIGHT;
    return finite ? found : OVERFLOW;
}

static PyObject *learn_row(PyObject *module, PyObject *const *given, Py_ssize_t n) {
    word found = UNUSUAL;
    if (n == 7 ? fill_by(given + 4, 0, SHORT) : takes(4, n))
        found = learn(given, PyLong_AsLongLong(given[3]));
    return PyErr_Occurred() ? NULL : PyLong_FromLongLong(found);
}

static PyObject *decide_row(PyObject *module, PyObject *const *given, Py_ssize_t n) {
    word result[RESULT_WORDS] = {UNUSUAL};
    if (n == 5 ? fill_by(given + 2, 1, SHORT) : takes(2, n))
        run_bound(given[0], PyLong_AsLongLong(given[1]), result);
    return PyErr_Occurred() ? NULL : PyLong_FromLongLong(result[0]);
}

/* Kernels that are linked in. */

enum { MOST_LEVELS = 2 };

struct kernel {
    const char *symbol, *result;
    kernel_code code[MOST_LEVELS];
};

#ifdef HAS_KERNELS
#include "kernel_table.h"
enum { N_KERNELS = sizeof table / sizeof *table };
enum { N_LEVELS = sizeof table_levels / sizeof *table_levels };
#else
static const char table_sources[] = "", *const table_levels[] = {""};
static const struct kernel table[] = {{"", "", {NULL}}};
enum { N_KERNELS = 0, N_LEVELS = 0 };
#endif

static int by_symbol(const void *symbol, const void *kernel) {
    return strcmp(symbol, ((const struct kernel *)kernel)->symbol);
}

static PyObject *kernel(PyObject *module, PyObject *given) {
    const char *symbol, *level;
    if (!PyArg_ParseTuple(given, "ss", &symbol, &level))
        return NULL;
    const struct kernel *found = bsearch(symbol, table, N_KERNELS, sizeof *table, by_symbol);
    for (int k = 0; found != NULL && k < N_LEVELS; k++)
        if (strcmp(level, table_levels[k]) == 0 && found->code[k] != NULL)
            return Py_BuildValue("Ns", PyLong_FromVoidPtr((void *)found->code[k]), found->result);
    return unless_error(Py_None);
}

/* Asks the processor itself: __builtin_cpu_supports needs a library that not every linker has. */
#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
static int x86_64_level(void) {
    enum { V2 = 0x982201, FMA_MOVBE_OSXSAVE_AVX_F16C = 0x38401000, BMI_AVX2_BMI2 = 0x128 };
    enum { LAHF = 1, LZCNT = 0x20, AVX_STATE = 6 };
    unsigned a, b, basic = 0, c, d, more = 0, extended = 0, state = 0;
    __get_cpuid(1, &a, &b, &basic, &d);
    __get_cpuid_count(7, 0, &a, &more, &c, &d);
    __get_cpuid(0x80000001, &a, &b, &extended, &d);
    if ((basic & V2) != V2 || !(extended & LAHF))
        return 1;
    if ((basic & FMA_MOVBE_OSXSAVE_AVX_F16C) != FMA_MOVBE_OSXSAVE_AVX_F16C
        || (more & BMI_AVX2_BMI2) != BMI_AVX2_BMI2 || !(extended & LZCNT))
        return 2;
    __asm__("xgetbv" : "=a"(state), "=d"(d) : "c"(0)); /* what the system saves */
    return (state & AVX_STATE) == AVX_STATE ? 3 : 2;
}
#else
static int x86_64_level(void) {
    return 0; /* another processor, or a compiler that does not know */
}
#endif

static PyObject *level(PyObject *module, PyObject *nothing) {
    return PyLong_FromLong(x86_64_level());
}

#define FAST(name, function) {name, (PyCFunction)(void (*)(void))function, METH_FASTCALL, NULL}
static PyMethodDef functions[] = {
    FAST("call", call), {"bind", bind, METH_VARARGS, NULL}, FAST("run", run),
    {"flatten", flatten, METH_O, NULL}, {"row", new_row, METH_VARARGS, NULL},
    {"remember", remember, METH_VARARGS, NULL}, FAST("fill_row", fill_row),
    FAST("learn_row", learn_row), FAST("decide_row", decide_row),
    {"kernel", kernel, METH_VARARGS, NULL}, {"level", level, METH_NOARGS, NULL}, {NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_machine", NULL, -1, functions};

PyMODINIT_FUNC PyInit__machine(void) {
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL)
        return NULL;
    array_type = (PyTypeObject *)PyObject_GetAttrString(numpy, "ndarray");
    float64_type = (PyTypeObject *)PyObject_GetAttrString(numpy, "float64");
    int64_type = (PyTypeObject *)PyObject_GetAttrString(numpy, "int64");
    uint64_type = (PyTypeObject *)PyObject_GetAttrString(numpy, "uint64");
    dtype_name = PyUnicode_InternFromString("dtype");
    Py_DECREF(numpy);
    PyObject *module = PyErr_Occurred() ? NULL : PyModule_Create(&definition);
    if (module != NULL && (PyModule_AddStringConstant(module, "source", SOURCE_DIGEST) < 0
                           || PyModule_AddIntConstant(module, "n_kernels", N_KERNELS) < 0
                           || PyModule_AddStringConstant(module, "kernel_sources", table_sources)))
        Py_CLEAR(module);
    return module;
}
