// How rows of the table of keys are bound to members of a job.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/base/enumerators.hpp"
#include "sim/base/quantity.hpp"
#include "workloads/keys/key.hpp"

namespace weft {

// Rows while they are bound.
struct KeyRows {
    std::vector<JobKey> keys;
    std::map<std::string, std::size_t, std::less<>> places;  // by path
    std::map<std::string, std::vector<std::size_t>, std::less<>>
        read;  // by object, in the order in which they are read

    JobKey& row(const std::string& path);  // added where no file has it: of an axis that a scheme from outside brings
    JobKey& read_next(const std::string& object, const std::string& name);
};

// Numbers of what the words stand for. LogicError if the member's type has no such enumerator.
template <class Value>
std::vector<double> meant_numbers(const JobKey& key) {
    std::vector<double> numbers;
    for (const std::string& value : key.values) {
        double number = std::strtod(value.c_str(), nullptr);
        if constexpr (std::is_enum_v<Value>) {
            const auto found = enumerator_called<Value>(value);
            WEFT_CHECK(found, key.path + " has no " + value);
            number = static_cast<double>(*found);
        }
        numbers.push_back(number);
    }
    return numbers;
}

template <class Member>
struct PlainMember {
    using Type = Member;
    static double number(const Member& member) { return static_cast<double>(member); }
    static Type member(double number) { return static_cast<Type>(number); }
};
template <>
struct PlainMember<Seconds> {
    using Type = Seconds;
    static double number(Seconds member) { return member.value; }
    static Seconds member(double number) { return {number}; }
};
template <class Value>
struct PlainMember<std::optional<Value>> : PlainMember<Value> {  // empty: it depends on other keys
    static double number(const std::optional<Value>& member) { return static_cast<double>(member.value_or(Value{})); }
};

// Binds keys of an object of the job in the order in which they are read. `of`: the member that the object is.
template <class Of>
class Section {
  public:
    Section(KeyRows& rows, std::string object, Of of) : rows_(rows), object_(std::move(object)), of_(of) {}

    template <class Owner, class Member>
    JobKey& operator()(const std::string& name, Member Owner::*member) {
        using Plain = PlainMember<Member>;
        JobKey& key = rows_.read_next(object_, name);
        if (!std::is_same_v<typename Plain::Type, Member>) key.absent = Absent::depends;
        const std::vector<double> numbers = meant_numbers<typename Plain::Type>(key);
        key.get = [=, of = of_](const Job& job) {
            const double number = Plain::number(std::invoke(of, job).*member);
            return numbers.empty() ? number : double(std::ranges::find(numbers, number) - numbers.begin());
        };
        key.set = [=, of = of_](Job& job, double value) {
            std::invoke(of, job).*member =
                Plain::member(numbers.empty() ? value : numbers.at(static_cast<std::size_t>(value)));
        };
        return key;
    }
    JobKey& operator()(const std::string& name, JobKey::Read read) {
        JobKey& key = rows_.read_next(object_, name);
        key.read = std::move(read);
        return key;
    }

  private:
    KeyRows& rows_;
    std::string object_;
    Of of_;
};

// Of what has forms beyond one value, or follows from registries.
void bind_layout(KeyRows& rows);
void bind_experts(KeyRows& rows);
void bind_recompute(JobKey& key);
void bind_trained(KeyRows& rows);
void bind_members(KeyRows& rows);  // all keys

}  // namespace weft
